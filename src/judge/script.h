/* script.h - which writing system a letter belongs to. */
#ifndef SCRIPT_H
#define SCRIPT_H

#include <stdint.h>

enum script {
    SCRIPT_COMMON, /* no letter, or one of every script */
    SCRIPT_LATIN,
    SCRIPT_GREEK,
    SCRIPT_CYRILLIC,
    SCRIPT_ARMENIAN,
    SCRIPT_HEBREW,
    SCRIPT_ARABIC,
    SCRIPT_DEVANAGARI,
    SCRIPT_BENGALI,
    SCRIPT_GURMUKHI,
    SCRIPT_GUJARATI,
    SCRIPT_TAMIL,
    SCRIPT_TELUGU,
    SCRIPT_KANNADA,
    SCRIPT_MALAYALAM,
    SCRIPT_THAI,
    SCRIPT_LAO,
    SCRIPT_TIBETAN,
    SCRIPT_MYANMAR,
    SCRIPT_GEORGIAN,
    SCRIPT_HANGUL,
    SCRIPT_ETHIOPIC,
    SCRIPT_KHMER,
    SCRIPT_MONGOLIAN,
    SCRIPT_KANA,
    SCRIPT_BOPOMOFO,
    SCRIPT_HAN,
    SCRIPT_OTHER,
    N_SCRIPTS
};

enum script script_of(uint32_t code_point);

/* The scripts that a language ("en", "zh-CN") is written in, one bit each; Latin is always among
 * them, since names and code are. 0 = the language is unknown, or has no bounds ("multi"). */
uint64_t script_of_language(const char *lang);

const char *script_name(enum script s);

#endif
