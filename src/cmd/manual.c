/* manual.c - tables of options as a manual page and as completions. It knows no command and no
 * option: what it writes is what the tables say. */
#include "manual.h"

#include <stdbool.h>
#include <string.h>

#include "buf.h"
#include "commands.h"
#include "opt.h"

/* "run" of "run [options]". */
static struct span name_of(const struct manual_part *p)
{
    return (struct span){p->usage, strcspn(p->usage, " ")};
}

static bool is_on(const struct opt *o)
{
    return o->kind == OPT_BOOL && o->initial && strcmp(o->initial, "yes") == 0;
}

static bool takes_file(const struct opt *o)
{
    return o->value && strstr(o->value, "FILE");
}

/* The flag as it is of use: --no-NAME for what is on. */
static void add_flag(const struct opt *o, const char *name, struct buf *out)
{
    buf_addf(out, "--%s%s", is_on(o) ? "no-" : "", name);
}

/* --- the manual page ----------------------------------------------------------------------------
 */

/* Text for roff: no line begins with a dot or quote by chance, minus signs stay such. */
static void add_roff(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\\')
            buf_adds(out, "\\e");
        else if (*text == '-')
            buf_adds(out, "\\-");
        else if (*text == '\n')
            buf_addc(out, ' ');
        else if ((*text == '.' || *text == '\'') && out->len && out->data[out->len - 1] == '\n')
            buf_addf(out, "\\&%c", *text);
        else
            buf_addc(out, *text);
    }
}

static void man_begin(struct buf *out)
{
    buf_adds(out,
             ".TH TOOLSTORM 1 \"\" \"toolstorm " TOOLSTORM_VERSION "\" \"User commands\"\n"
             ".SH NAME\ntoolstorm \\- finds tool calls that a model server corrupts under load\n"
             ".SH SYNOPSIS\n.B toolstorm\n.I COMMAND\n.RI [ options ]\n.SH COMMANDS\n");
    for (const struct command *c = commands; c->name; c++) {
        buf_addf(out, ".TP\n.B %s\n", c->name);
        add_roff(out, c->about);
        buf_addc(out, '\n');
    }
}

static void man_option(const struct opt *o, struct buf *out)
{
    struct buf flag = BUF_INIT;
    if (o->group) {
        buf_adds(out, ".PP\n");
        add_roff(out, o->group);
        buf_adds(out, ":\n");
    }
    if (o->letter && !is_on(o))
        buf_addf(&flag, "-%c, ", o->letter);
    add_flag(o, o->name, &flag);
    buf_adds(out, ".TP\n.B ");
    add_roff(out, buf_str(&flag));
    if (o->kind != OPT_BOOL) {
        buf_adds(out, " \\fI");
        add_roff(out, o->choices ? o->choices : o->value);
        buf_adds(out, "\\fR");
    }
    buf_addc(out, '\n');
    add_roff(out, o->help);
    if (o->kind != OPT_BOOL && o->initial && o->initial[0]) {
        buf_adds(out, " (default: ");
        add_roff(out, o->initial);
        buf_addc(out, ')');
    }
    if (o->kind == OPT_LIST)
        buf_adds(out, " (repeatable)");
    if (o->alias) {
        buf_adds(out, " (also \\-\\-");
        add_roff(out, o->alias);
        buf_addc(out, ')');
    }
    buf_addc(out, '\n');
    buf_release(&flag);
}

static void man_part(const struct manual_part *p, struct buf *out)
{
    buf_adds(out, ".SH \"toolstorm ");
    add_roff(out, p->usage);
    buf_adds(out, "\"\n");
    add_roff(out, p->about);
    buf_addc(out, '\n');
    for (const struct opt *o = p->table; o->name; o++)
        man_option(o, out);
}

static void man_end(struct buf *out)
{
    buf_adds(out, ".SH \"EXIT STATUS\"\n");
#define EXIT_STATUS(name, number, meaning)                                                         \
    buf_addf(out, ".TP\n.B %d\n", number);                                                         \
    add_roff(out, meaning);                                                                        \
    buf_addc(out, '\n');
#include "exit_status.def"
#undef EXIT_STATUS
    buf_adds(out, ".SH ENVIRONMENT\n.TP\n.B OPENAI_BASE_URL\nthe endpoint, where no "
                  "\\-\\-base\\-url is given\n.TP\n.B OPENAI_API_KEY\nits key; "
                  "\\-\\-api\\-key\\-env names another variable\n.TP\n.B NO_COLOR\nno colours\n");
}

/* --- completions: bash --------------------------------------------------------------------------
 */

static void add_choices(const char *choices, struct buf *out)
{
    for (; *choices; choices++)
        buf_addc(out, *choices == '|' ? ' ' : *choices);
}

static void add_command_names(struct buf *out)
{
    for (const struct command *c = commands; c->name; c++)
        buf_addf(out, "%s%s", c == commands ? "" : " ", c->name);
}

static void bash_begin(struct buf *out)
{
    buf_adds(out, "# bash completion of toolstorm\n_toolstorm() {\n"
                  "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                  "    COMPREPLY=()\n    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                  "        mapfile -t COMPREPLY < <(compgen -W '--help --version ");
    add_command_names(out);
    buf_adds(out, "' -- \"$cur\")\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
}

/* What may stand behind an option: words, a file, or something that nobody can guess. */
static void bash_value(const struct opt *o, struct buf *out)
{
    if (o->kind == OPT_BOOL)
        return;
    buf_addf(out, "        --%s", o->name);
    if (o->alias)
        buf_addf(out, "|--%s", o->alias);
    if (o->letter)
        buf_addf(out, "|-%c", o->letter);
    if (o->choices) {
        buf_adds(out, ") mapfile -t COMPREPLY < <(compgen -W '");
        add_choices(o->choices, out);
        buf_adds(out, "' -- \"$cur\"); return ;;\n");
    } else if (takes_file(o)) {
        buf_adds(out, ") mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return ;;\n");
    } else {
        buf_adds(out, ") return ;;\n");
    }
}

static void bash_part(const struct manual_part *p, struct buf *out)
{
    struct span name = name_of(p);
    buf_addf(out, "    %.*s)\n        case $prev in\n", (int)name.len, name.data);
    for (const struct opt *o = p->table; o->name; o++)
        bash_value(o, out);
    buf_adds(out,
             "        esac\n        case $cur in\n        -*) mapfile -t COMPREPLY < <(compgen "
             "-W '--help");
    for (const struct opt *o = p->table; o->name; o++) {
        buf_addc(out, ' ');
        add_flag(o, o->name, out);
    }
    buf_adds(out, "' -- \"$cur\") ;;\n        *) mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") "
                  ";;\n        esac ;;\n");
}

static void bash_end(struct buf *out)
{
    buf_adds(out, "    help) mapfile -t COMPREPLY < <(compgen -W '");
    add_command_names(out);
    buf_adds(out,
             "' -- \"$cur\") ;;\n    esac\n}\ncomplete -o filenames -F _toolstorm toolstorm\n");
}

/* --- completions: zsh ---------------------------------------------------------------------------
 */

/* Text inside a single-quoted specification of _arguments. */
static void add_zsh(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            buf_adds(out, "'\\''");
        else if (strchr("[]:\\", *text))
            buf_addf(out, "\\%c", *text);
        else
            buf_addc(out, *text);
    }
}

static void zsh_begin(struct buf *out)
{
    buf_adds(out, "#compdef toolstorm\n_toolstorm() {\n    local -a commands\n    commands=(\n");
    for (const struct command *c = commands; c->name; c++) {
        buf_addf(out, "        '%s:", c->name);
        add_zsh(out, c->about);
        buf_adds(out, "'\n");
    }
    buf_adds(out, "    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n"
                  "        return\n    fi\n    local command=$words[2]\n    shift words\n"
                  "    (( CURRENT-- ))\n    case $command in\n");
}

static void zsh_option(const struct opt *o, struct buf *out)
{
    buf_adds(out, o->kind == OPT_LIST ? "            '*" : "            '");
    add_flag(o, o->name, out);
    buf_addc(out, '[');
    add_zsh(out, o->help);
    buf_addc(out, ']');
    if (o->kind != OPT_BOOL) {
        buf_addc(out, ':');
        add_zsh(out, o->value ? o->value : "word");
        buf_addc(out, ':');
        if (o->choices) {
            buf_addc(out, '(');
            add_choices(o->choices, out);
            buf_addc(out, ')');
        } else if (takes_file(o)) {
            buf_adds(out, "_files");
        }
    }
    buf_adds(out, "' \\\n");
}

static void zsh_part(const struct manual_part *p, struct buf *out)
{
    struct span name = name_of(p);
    buf_addf(out, "    %.*s)\n        _arguments \\\n", (int)name.len, name.data);
    for (const struct opt *o = p->table; o->name; o++)
        zsh_option(o, out);
    buf_adds(out, "            '*:operand:_files' ;;\n");
}

static void zsh_end(struct buf *out)
{
    buf_adds(out, "    help) _describe command commands ;;\n    esac\n}\n_toolstorm \"$@\"\n");
}

/* --- completions: fish --------------------------------------------------------------------------
 */

static void add_fish(struct buf *out, const char *text)
{
    buf_addc(out, '\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            buf_addc(out, '\\');
        buf_addc(out, *text == '\n' ? ' ' : *text);
    }
    buf_addc(out, '\'');
}

static void fish_begin(struct buf *out)
{
    buf_adds(out, "# fish completion of toolstorm\n");
    for (const struct command *c = commands; c->name; c++) {
        buf_addf(out, "complete -c toolstorm -n __fish_use_subcommand -f -a %s -d ", c->name);
        add_fish(out, c->about);
        buf_addc(out, '\n');
    }
}

static void fish_part(const struct manual_part *p, struct buf *out)
{
    struct span name = name_of(p);
    for (const struct opt *o = p->table; o->name; o++) {
        buf_addf(out, "complete -c toolstorm -n '__fish_seen_subcommand_from %.*s' -l %s%s",
                 (int)name.len, name.data, is_on(o) ? "no-" : "", o->name);
        if (o->letter && !is_on(o))
            buf_addf(out, " -s %c", o->letter);
        if (o->choices) {
            buf_adds(out, " -x -a '");
            add_choices(o->choices, out);
            buf_addc(out, '\'');
        } else if (o->kind != OPT_BOOL) {
            buf_adds(out, takes_file(o) ? " -r" : " -x");
        }
        buf_adds(out, " -d ");
        add_fish(out, o->help);
        buf_addc(out, '\n');
    }
}

static void fish_end(struct buf *out)
{
    buf_adds(out, "complete -c toolstorm -n '__fish_seen_subcommand_from help' -f -a '");
    add_command_names(out);
    buf_adds(out, "'\n");
}

/* ------------------------------------------------------------------------------------------------
 */

const struct manual_form manual_forms[] = {
    {"man", "the manual page, in roff", man_begin, man_part, man_end},
    {"completions-bash", "completion for bash", bash_begin, bash_part, bash_end},
    {"completions-zsh", "completion for zsh", zsh_begin, zsh_part, zsh_end},
    {"completions-fish", "completion for fish", fish_begin, fish_part, fish_end},
    {NULL, NULL, NULL, NULL, NULL},
};

const struct manual_form *manual_asked(const char *word)
{
    static const char prefix[] = "--help=";
    if (strncmp(word, prefix, sizeof prefix - 1) != 0)
        return NULL;
    for (const struct manual_form *f = manual_forms; f->topic; f++)
        if (strcmp(f->topic, word + sizeof prefix - 1) == 0)
            return f;
    return NULL;
}
