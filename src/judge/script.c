/* script.c - Unicode's letters by block, as coarse as the question "does this belong here?" needs.
 * Marks, digits and punctuation are common. */
#include "script.h"

#include <stddef.h>
#include <string.h>

static const struct range {
    uint32_t first, last;
    enum script script;
} ranges[] = {
    {0x41, 0x5A, SCRIPT_LATIN},         {0x61, 0x7A, SCRIPT_LATIN},
    {0xAA, 0xAA, SCRIPT_LATIN},         {0xBA, 0xBA, SCRIPT_LATIN},
    {0xC0, 0xD6, SCRIPT_LATIN},         {0xD8, 0xF6, SCRIPT_LATIN},
    {0xF8, 0x2AF, SCRIPT_LATIN},        {0x370, 0x373, SCRIPT_GREEK},
    {0x376, 0x377, SCRIPT_GREEK},       {0x37B, 0x37D, SCRIPT_GREEK},
    {0x386, 0x386, SCRIPT_GREEK},       {0x388, 0x3FF, SCRIPT_GREEK},
    {0x400, 0x481, SCRIPT_CYRILLIC},    {0x48A, 0x52F, SCRIPT_CYRILLIC},
    {0x531, 0x556, SCRIPT_ARMENIAN},    {0x561, 0x587, SCRIPT_ARMENIAN},
    {0x5D0, 0x5F2, SCRIPT_HEBREW},      {0x620, 0x64A, SCRIPT_ARABIC},
    {0x66E, 0x6D3, SCRIPT_ARABIC},      {0x6D5, 0x6D5, SCRIPT_ARABIC},
    {0x6EE, 0x6EF, SCRIPT_ARABIC},      {0x6FA, 0x6FF, SCRIPT_ARABIC},
    {0x710, 0x74F, SCRIPT_OTHER},       {0x750, 0x77F, SCRIPT_ARABIC},
    {0x780, 0x7EA, SCRIPT_OTHER},       {0x800, 0x85F, SCRIPT_OTHER},
    {0x8A0, 0x8C9, SCRIPT_ARABIC},      {0x900, 0x963, SCRIPT_DEVANAGARI},
    {0x971, 0x97F, SCRIPT_DEVANAGARI},  {0x980, 0x9E3, SCRIPT_BENGALI},
    {0x9F0, 0x9F1, SCRIPT_BENGALI},     {0xA01, 0xA5E, SCRIPT_GURMUKHI},
    {0xA72, 0xA75, SCRIPT_GURMUKHI},    {0xA81, 0xAE3, SCRIPT_GUJARATI},
    {0xB01, 0xB71, SCRIPT_OTHER},       {0xB82, 0xBD7, SCRIPT_TAMIL},
    {0xC00, 0xC63, SCRIPT_TELUGU},      {0xC80, 0xCE3, SCRIPT_KANNADA},
    {0xD00, 0xD63, SCRIPT_MALAYALAM},   {0xD81, 0xDF3, SCRIPT_OTHER},
    {0xE01, 0xE3A, SCRIPT_THAI},        {0xE40, 0xE4E, SCRIPT_THAI},
    {0xE81, 0xEC6, SCRIPT_LAO},         {0xEDC, 0xEDF, SCRIPT_LAO},
    {0xF00, 0xF00, SCRIPT_TIBETAN},     {0xF40, 0xFBC, SCRIPT_TIBETAN},
    {0x1000, 0x103F, SCRIPT_MYANMAR},   {0x1050, 0x109D, SCRIPT_MYANMAR},
    {0x10A0, 0x10FA, SCRIPT_GEORGIAN},  {0x10FC, 0x10FF, SCRIPT_GEORGIAN},
    {0x1100, 0x11FF, SCRIPT_HANGUL},    {0x1200, 0x135A, SCRIPT_ETHIOPIC},
    {0x1380, 0x138F, SCRIPT_ETHIOPIC},  {0x13A0, 0x13FD, SCRIPT_OTHER},
    {0x1401, 0x166C, SCRIPT_OTHER},     {0x166F, 0x167F, SCRIPT_OTHER},
    {0x1681, 0x169A, SCRIPT_OTHER},     {0x16A0, 0x16EA, SCRIPT_OTHER},
    {0x1700, 0x1773, SCRIPT_OTHER},     {0x1780, 0x17D3, SCRIPT_KHMER},
    {0x1820, 0x18AA, SCRIPT_MONGOLIAN}, {0x18B0, 0x18F5, SCRIPT_OTHER},
    {0x1900, 0x1A16, SCRIPT_OTHER},     {0x1A20, 0x1AAD, SCRIPT_OTHER},
    {0x1B05, 0x1B4B, SCRIPT_OTHER},     {0x1B83, 0x1C7D, SCRIPT_OTHER},
    {0x1C80, 0x1C88, SCRIPT_CYRILLIC},  {0x1C90, 0x1CBF, SCRIPT_GEORGIAN},
    {0x1D00, 0x1DBF, SCRIPT_LATIN},     {0x1E00, 0x1EFF, SCRIPT_LATIN},
    {0x1F00, 0x1FFC, SCRIPT_GREEK},     {0x2C00, 0x2C5F, SCRIPT_OTHER},
    {0x2C60, 0x2C7F, SCRIPT_LATIN},     {0x2C80, 0x2CEE, SCRIPT_OTHER},
    {0x2D00, 0x2D2D, SCRIPT_GEORGIAN},  {0x2D30, 0x2D7F, SCRIPT_OTHER},
    {0x2D80, 0x2DDE, SCRIPT_ETHIOPIC},  {0x2E80, 0x2FD5, SCRIPT_HAN},
    {0x3005, 0x3007, SCRIPT_HAN},       {0x3021, 0x3029, SCRIPT_HAN},
    {0x3041, 0x3096, SCRIPT_KANA},      {0x309D, 0x309F, SCRIPT_KANA},
    {0x30A1, 0x30FA, SCRIPT_KANA},      {0x30FD, 0x30FF, SCRIPT_KANA},
    {0x3105, 0x312F, SCRIPT_BOPOMOFO},  {0x3131, 0x318E, SCRIPT_HANGUL},
    {0x31A0, 0x31BF, SCRIPT_BOPOMOFO},  {0x31F0, 0x31FF, SCRIPT_KANA},
    {0x3400, 0x4DBF, SCRIPT_HAN},       {0x4E00, 0x9FFF, SCRIPT_HAN},
    {0xA000, 0xA63F, SCRIPT_OTHER},     {0xA640, 0xA66E, SCRIPT_CYRILLIC},
    {0xA680, 0xA69D, SCRIPT_CYRILLIC},  {0xA6A0, 0xA6EF, SCRIPT_OTHER},
    {0xA722, 0xA7FF, SCRIPT_LATIN},     {0xA800, 0xA87F, SCRIPT_OTHER},
    {0xA882, 0xA8B3, SCRIPT_OTHER},     {0xA8F2, 0xA8FF, SCRIPT_DEVANAGARI},
    {0xA90A, 0xA953, SCRIPT_OTHER},     {0xA960, 0xA97C, SCRIPT_HANGUL},
    {0xA984, 0xAA2F, SCRIPT_OTHER},     {0xAA40, 0xAADD, SCRIPT_OTHER},
    {0xAB01, 0xAB2E, SCRIPT_ETHIOPIC},  {0xAB30, 0xAB64, SCRIPT_LATIN},
    {0xAB70, 0xABEA, SCRIPT_OTHER},     {0xAC00, 0xD7FB, SCRIPT_HANGUL},
    {0xF900, 0xFAD9, SCRIPT_HAN},       {0xFB00, 0xFB06, SCRIPT_LATIN},
    {0xFB13, 0xFB17, SCRIPT_ARMENIAN},  {0xFB1D, 0xFB4F, SCRIPT_HEBREW},
    {0xFB50, 0xFBB1, SCRIPT_ARABIC},    {0xFBD3, 0xFD3D, SCRIPT_ARABIC},
    {0xFD50, 0xFDFB, SCRIPT_ARABIC},    {0xFE70, 0xFEFC, SCRIPT_ARABIC},
    {0xFF21, 0xFF3A, SCRIPT_LATIN},     {0xFF41, 0xFF5A, SCRIPT_LATIN},
    {0xFF66, 0xFF6F, SCRIPT_KANA},      {0xFF71, 0xFF9D, SCRIPT_KANA},
    {0xFFA0, 0xFFDC, SCRIPT_HANGUL},    {0x10000, 0x1CFFF, SCRIPT_OTHER},
    {0x1E000, 0x1E95F, SCRIPT_OTHER},   {0x20000, 0x3134F, SCRIPT_HAN},
};

#define N_RANGES (sizeof ranges / sizeof *ranges)

enum script script_of(uint32_t c)
{
    size_t low = 0, high = N_RANGES;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (c > ranges[mid].last)
            low = mid + 1;
        else
            high = mid;
    }
    return low < N_RANGES && c >= ranges[low].first ? ranges[low].script : SCRIPT_COMMON;
}

#define BIT(name) (1ull << SCRIPT_##name)

static const struct {
    const char *languages; /* blank separated */
    uint64_t scripts;
} languages[] = {
    {"en de fr es it pt nl sv da no nb nn fi et lv lt pl cs sk sl hr hu ro tr az vi id ms sw eu ca "
     "gl ga cy is mt sq tl fil af la eo",
     BIT(LATIN)},
    {"ru uk be bg mk kk ky tg", BIT(CYRILLIC)},
    {"sr mn", BIT(CYRILLIC) | BIT(MONGOLIAN)},
    {"el", BIT(GREEK)},
    {"zh", BIT(HAN) | BIT(BOPOMOFO)},
    {"ja", BIT(HAN) | BIT(KANA)},
    {"ko", BIT(HANGUL) | BIT(HAN)},
    {"ar fa ur ps", BIT(ARABIC)},
    {"he yi", BIT(HEBREW)},
    {"hi mr ne sa", BIT(DEVANAGARI)},
    {"bn as", BIT(BENGALI)},
    {"pa", BIT(GURMUKHI)},
    {"gu", BIT(GUJARATI)},
    {"ta", BIT(TAMIL)},
    {"te", BIT(TELUGU)},
    {"kn", BIT(KANNADA)},
    {"ml", BIT(MALAYALAM)},
    {"th", BIT(THAI)},
    {"lo", BIT(LAO)},
    {"bo", BIT(TIBETAN)},
    {"my", BIT(MYANMAR)},
    {"ka", BIT(GEORGIAN)},
    {"hy", BIT(ARMENIAN)},
    {"am ti", BIT(ETHIOPIC)},
    {"km", BIT(KHMER)},
};

static int has_word(const char *words, const char *word, size_t len)
{
    for (const char *p = words; *p; p += strspn(p, " ")) {
        size_t n = strcspn(p, " ");
        if (n == len && memcmp(p, word, len) == 0)
            return 1;
        p += n;
    }
    return 0;
}

uint64_t script_of_language(const char *lang)
{
    size_t len = lang ? strcspn(lang, "-_") : 0;
    for (size_t i = 0; len && i < sizeof languages / sizeof *languages; i++)
        if (has_word(languages[i].languages, lang, len))
            return languages[i].scripts | BIT(LATIN);
    return 0;
}

const char *script_name(enum script s)
{
    static const char *const names[N_SCRIPTS] = {
        "common",     "Latin",   "Greek",     "Cyrillic", "Armenian", "Hebrew",   "Arabic",
        "Devanagari", "Bengali", "Gurmukhi",  "Gujarati", "Tamil",    "Telugu",   "Kannada",
        "Malayalam",  "Thai",    "Lao",       "Tibetan",  "Myanmar",  "Georgian", "Hangul",
        "Ethiopic",   "Khmer",   "Mongolian", "Kana",     "Bopomofo", "Han",      "another script"};
    return names[s];
}
