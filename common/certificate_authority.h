/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The proxy's certificate authority: made, read from PEM, and judged, by OpenSSL's library. */
#ifndef CELL_CERTIFICATE_AUTHORITY_H
#define CELL_CERTIFICATE_AUTHORITY_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

enum certificate_verdict {
	CERTIFICATE_OK,
	CERTIFICATE_MISSING,	     /* no CERTIFICATE block in the PEM text */
	CERTIFICATE_MALFORMED,	     /* a block that is cut short or does not decode */
	CERTIFICATE_SEVERAL,	     /* which one is meant cannot be told */
	CERTIFICATE_KEY_MISSING,     /* no private key that can be read without a passphrase */
	CERTIFICATE_KEY_MISMATCH,    /* the private key is another certificate's */
	CERTIFICATE_NOT_A_CA,	     /* basicConstraints or keyUsage do not let it sign */
	CERTIFICATE_NOT_SELF_SIGNED, /* clients could not verify with it alone */
	CERTIFICATE_EXPIRED,
	CERTIFICATE_NOT_YET_VALID,
	CERTIFICATE_NO_MEMORY, /* errno is ENOMEM: nothing is known of it */
};

struct certificate {
	char *pem;	   /* as it is published: one block, LF, one newline at its end; malloc'd */
	size_t pem_length; /* bytes */
	char sha256[65];   /* of the DER form, lower-case hex */
	char not_before[24], not_after[24]; /* RFC 3339, UTC */
};

/*
 * Call first: OpenSSL then reads no configuration and loads no module (OPENSSL_init_crypto(3)). 0,
 * or -1: the library cannot be used.
 */
int certificate_begin(void);

/*
 * Reads and judges exactly LENGTH bytes of PEM text, as of NOW. WITH_KEY: the certificate's
 * private key must be in it too. CERTIFICATE is filled wherever a certificate could be decoded,
 * also for a bad verdict, and is released by the caller in any case. Pure.
 */
enum certificate_verdict certificate_read(const char *text, size_t length, bool with_key,
					  time_t now, struct certificate *certificate);
void certificate_release(struct certificate *certificate);

/*
 * True for 1 to 64 bytes (X.520 allows 64 characters) of UTF-8 that can be shown on a terminal as
 * they are. Pure.
 */
bool certificate_name_is_valid(const char *common_name);

/*
 * A new authority on P-256, valid from fifteen minutes before NOW for ten years: private key, then
 * certificate, as PEM text that the caller wipes and frees with certificate_wipe. NULL if OpenSSL
 * refuses; REASON then says why. COMMON_NAME must be a valid one.
 */
char *certificate_make(const char *common_name, time_t now, size_t *length, const char **reason);

/* Overwrites and frees LENGTH bytes of secret text. */
void certificate_wipe(char *text, size_t length);

/* The reason in words, with dates where they matter, to stand behind "cannot use FILE: ". */
char *certificate_verdict_text(enum certificate_verdict verdict,
			       const struct certificate *certificate, time_t now);

#endif
