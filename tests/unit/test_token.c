// layers: chat base
/* Planted identifiers: they name their owner, and nothing else is taken for one. */
#include "buf.h"
#include "check.h"
#include "rng.h"
#include "token.h"

int main(void)
{
    struct token_key key = token_key(11), other = token_key(12);
    char text[TOKEN_LEN + 1];
    struct token_owner owner;
    for (long session = 1; session <= TOKEN_MAX_SESSION; session = session * 3 + 1)
        for (int slot = 0; slot <= TOKEN_MAX_SLOT; slot += 15) {
            token_make(&key, session, slot, text);
            CHECK(token_read(&key, text, &owner) && owner.session == session && owner.slot == slot);
            CHECK(!token_read(&other, text, &owner));
            /* No single altered symbol is still a token of anybody. */
            for (int i = 0; i < TOKEN_LEN; i++) {
                char was = text[i];
                text[i] = was == 'A' ? 'B' : 'A';
                CHECK(!token_read(&key, text, &owner));
                text[i] = was;
            }
        }
    struct rng r = rng_stream(5, 0, "noise");
    int believed = 0;
    for (int i = 0; i < 200000; i++) {
        for (int k = 0; k < TOKEN_LEN; k++)
            text[k] = k == 5 ? '-' : "0123456789ABCDEFGHJKMNPQRSTVWXYZ"[rng_below(&r, 32)];
        believed += token_read(&key, text, &owner);
    }
    CHECK(believed <= 4);

    struct buf b = BUF_INIT;
    token_make(&key, 42, 7, text);
    buf_addf(&b, "a-b X%s %sY (%s) tail-", text, text, text);
    long at = token_find(&key, buf_span(&b), 0, &owner);
    CHECK_INT(at, (long)(strchr(buf_str(&b), '(') - buf_str(&b)) + 1);
    CHECK(owner.session == 42 && owner.slot == 7);
    CHECK_INT(token_find(&key, buf_span(&b), (size_t)at + 1, &owner), -1);
    CHECK_INT(token_find(&key, span_of(""), 0, &owner), -1);
    CHECK_INT(token_find(&key, span_of(text), 0, &owner), 0);
    CHECK_INT(token_find(&key, span_of("-----------------"), 0, &owner), -1);
    buf_release(&b);
    return check_end();
}
