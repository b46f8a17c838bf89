// layers: scenario chat base
/* test_history.c - captured conversations in the forms in which they are logged, and what becomes
 * of them. */
#include "history.h"

#include "check.h"
#include "json.h"
#include "message.h"
#include "scenario.h"
#include "token.h"

#define SYSTEM "{\"role\": \"system\",  \"content\": \"agent {{x}}\"}"
#define USER   "{\"role\":\"user\",\"content\":\"list\"}"
#define CALL   "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c1\"}]}"
#define TWO    "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c1\"},{\"id\":\"c2\"}]}"
#define RESULT "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"a.c\"}"
#define SAID   "{\"role\":\"assistant\",\"content\":\"done\"}"
#define TOOL   "{\"type\":\"function\",\"function\":{\"name\":\"ls\"}}"
#define OWN    "{\"type\":\"function\",\"function\":{\"name\":\"fetch_berth_ledger\"}}"

static struct scenario *chain(void)
{
    struct err err = {0};
    struct scenario *sc = scenario_load("chain", &err);
    CHECK_STR(err.text, "");
    return sc;
}

/* The history that a capture becomes; "" if it is refused. The caller's. */
static struct scenario *begin(const char *captured, struct err *err)
{
    struct scenario *plain = chain(), *sc = NULL;
    struct buf text = BUF_INIT;
    if (history_begin(span_of(scenario_text(plain)), span_of(captured), &text, err) == 0)
        sc = scenario_parse(buf_span(&text), "capture", err);
    buf_release(&text);
    scenario_free(plain);
    return sc;
}

static void becomes(const char *captured, const char *history, size_t n_tools)
{
    struct err err = {0};
    struct scenario *sc = begin(captured, &err);
    CHECK_STR(err.text, "");
    if (!sc)
        return;
    size_t n;
    scenario_tools(sc, &n);
    CHECK_STR(scenario_history(sc), history);
    CHECK_STR(scenario_name(sc), "chain.history");
    CHECK_INT(n, n_tools);
    scenario_free(sc);
}

static void refused(const char *captured, const char *why)
{
    struct err err = {0};
    struct scenario *sc = begin(captured, &err);
    CHECK(!sc);
    CHECK_INT(err.status, STATUS_USAGE);
    CHECK(strstr(err.text, why));
    if (!strstr(err.text, why))
        fprintf(stderr, "got \"%s\", want \"%s\"\n", err.text, why);
    scenario_free(sc);
}

static void forms(void)
{
    static const char both[] = SYSTEM "," USER;
    becomes("{\"model\":\"m\",\"messages\":[" SYSTEM "," USER "],\"tools\":[" TOOL "]}", both, 2);
    becomes("[" SYSTEM "," USER "]", both, 1);
    becomes("{\"request\":{\"messages\":[" SYSTEM "," USER "]},\"response\":{}}", both, 1);
    becomes("{\"request\":{\"url\":\"u\",\"body\":{\"messages\":[" SYSTEM "," USER "]}}}", both, 1);
    /* A log: the longest conversation; what is no JSON is passed over. */
    becomes("{\"messages\":[" USER "]}\nnoise\n\n{\"messages\":[" SYSTEM "," USER "]}\n"
            "{\"messages\":[" SAID "]}",
            both, 1);
    /* The scenario's own tool keeps its schema, whatever was captured under its name. */
    becomes("{\"messages\":[" USER "],\"tools\":[" OWN "," TOOL "]}", USER, 2);
}

static void ends(void)
{
    becomes("[" USER "," CALL "," RESULT "]", USER "," CALL "," RESULT, 1);
    becomes("[" USER "," CALL "," RESULT "," SAID "]", USER "," CALL "," RESULT "," SAID, 1);
    becomes("[" USER "," CALL "]", USER, 1);
    becomes("[" USER "," TWO "," RESULT "]", USER, 1);
    refused("[" CALL "]", "nothing but calls without a result");
    refused("", "no messages");
    refused("{\"messages\":[]}", "no messages");
    refused("{\"messages\":\"text\"}", "no messages");
    refused("[1]", "'messages[0].role' must be");
    refused("[" USER ",{\"role\":\"robot\"}]", "'messages[1].role' must be");
    refused("{\"messages\":[" USER "],\"tools\":[{\"name\":\"ls\"}]}", "tools[0]");
}

/* The conversation goes on with one user message that holds what the scenario's system message
 * says.
 */
static void opening(void)
{
    struct err err = {0};
    struct scenario *plain = chain(), *sc = begin("[" SYSTEM "," USER "]", &err);
    const struct play_settings settings = {.seed = 7, .rounds = 3, .context_tokens = 100};
    const struct token_key key = token_key(7);
    struct play *a = play_new(plain, &settings, &key, 5), *b = play_new(sc, &settings, &key, 5);
    size_t n_a, n_b;
    const struct message *before = play_opening(a, &n_a), *now = play_opening(b, &n_b);
    struct buf joined = BUF_INIT;
    CHECK_INT(n_a, 2);
    CHECK_INT(n_b, 1);
    CHECK(now[0].role == ROLE_USER);
    buf_addf(&joined, "%s\n\n%s", buf_str(&before[0].content), buf_str(&before[1].content));
    CHECK_STR(buf_str(&now[0].content), buf_str(&joined));
    CHECK_STR(play_canary(a), play_canary(b));
    buf_release(&joined);
    play_free(a);
    play_free(b);
    scenario_free(plain);
    scenario_free(sc);
}

int main(void)
{
    forms();
    ends();
    opening();
    return check_end();
}
