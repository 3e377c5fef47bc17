/* Variables of the environment whose names begin with GLSLINES_. */
#ifndef GLS_OPTIONS_ENVIRONMENT_H
#define GLS_OPTIONS_ENVIRONMENT_H

/* Warns of each variable that the program does not know, so that a misspelt one is noticed. */
void cmd_environment_check(void);

#endif
