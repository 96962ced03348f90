// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - drill: a line of a script
 */
#include <stdlib.h>
#include <string.h>

#include "drill.h"

bool line_cut(struct line *l, char *text)
{
	char *save, *word;

	memset(l, 0, sizeof(*l));
	text[strcspn(text, "#\n")] = 0;
	for (word = strtok_r(text, " \t", &save); word;
	     word = strtok_r(NULL, " \t", &save)) {
		if (l->num == MAX_WORDS)
			fail("too many words");
		l->word[l->num++] = word;
	}
	l->used[0] = true;
	return l->num;
}

static int line_find(struct line *l, const char *key)
{
	size_t len = strlen(key);
	int i;

	for (i = 1; i < l->num; i++) {
		if (strncmp(l->word[i], key, len) ||
		    (l->word[i][len] && l->word[i][len] != '='))
			continue;
		l->used[i] = true;
		return i;
	}
	return 0;
}

const char *line_get(struct line *l, const char *key)
{
	int i = line_find(l, key);
	const char *value;

	if (!i)
		return NULL;
	value = strchr(l->word[i], '=');
	return value ? value + 1 : "";
}

bool line_has(struct line *l, const char *key)
{
	return line_find(l, key);
}

const char *line_word(struct line *l, int at)
{
	if (at >= l->num || strchr(l->word[at], '='))
		return NULL;
	l->used[at] = true;
	return l->word[at];
}

bool num_parse(const char *text, __u64 *num)
{
	char *end;

	*num = strtoull(text, &end, 0);
	return *text && !*end;
}

bool time_parse(const char *text, __u64 *us)
{
	static const struct name units[] = {
		{ "us", 1 }, { "ms", 1000 }, { "s", 1000000 },
	};
	double value;
	char *end;
	size_t i;

	value = strtod(text, &end);
	for (i = 0; i < ARRAY_SIZE(units); i++) {
		if (end == text || strcmp(end, units[i].name))
			continue;
		*us = value * units[i].value;
		return true;
	}
	return false;
}

__u64 line_num(struct line *l, const char *key, __u64 otherwise)
{
	const char *text = line_get(l, key);
	__u64 num;

	if (!text)
		return otherwise;
	if (!num_parse(text, &num))
		fail("%s=%s is not a number", key, text);
	return num;
}

__u64 line_time(struct line *l, const char *key, __u64 otherwise)
{
	const char *text = line_get(l, key);
	__u64 us;

	if (!text)
		return otherwise;
	if (!time_parse(text, &us))
		fail("%s=%s is not a time", key, text);
	return us;
}

void line_end(const struct line *l)
{
	int i;

	for (i = 0; i < l->num; i++)
		if (!l->used[i])
			fail("unexpected word '%s'", l->word[i]);
}

int name_value(const struct name *names, size_t num, const char *what,
	       const char *name)
{
	size_t i;

	for (i = 0; name && i < num; i++)
		if (!strcmp(names[i].name, name))
			return names[i].value;
	fail("unknown %s '%s'", what, name ? name : "");
}

const char *name_of(const struct name *names, size_t num, int value)
{
	static char text[16];
	size_t i;

	for (i = 0; i < num; i++)
		if (names[i].value == value)
			return names[i].name;
	snprintf(text, sizeof(text), "%d", value);
	return text;
}
