// SPDX-License-Identifier: GPL-2.0-or-later
/* The proxy's certificate authority; see certificate_authority.h. */
#include "certificate_authority.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "text.h"

enum { BACKDATED = 15 * 60, LIFETIME = 3650 * 24 * 60 * 60, SERIAL_BITS = 159 };

static void cleanup_bio(BIO **bio)
{
	BIO_free_all(*bio);
}

static void cleanup_x509(X509 **x509)
{
	X509_free(*x509);
}

static void cleanup_key(EVP_PKEY **key)
{
	EVP_PKEY_free(*key);
}

#define autobio __attribute__((cleanup(cleanup_bio))) BIO
#define autox509 __attribute__((cleanup(cleanup_x509))) X509
#define autokey __attribute__((cleanup(cleanup_key))) EVP_PKEY

int certificate_begin(void)
{
	return OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) == 1 ? 0 : -1;
}

/* pem_password_cb(3) that knows none: an encrypted key is unreadable, nobody is ever asked. */
static int no_passphrase(char *buffer, int size, int writing, void *data)
{
	(void)buffer, (void)size, (void)writing, (void)data;
	return -1;
}

static bool time_of(const ASN1_TIME *time, time_t *seconds)
{
	struct tm utc;

	if (ASN1_TIME_to_tm(time, &utc) != 1)
		return false;
	*seconds = timegm(&utc);
	return true;
}

/* NOW as RFC 3339, UTC, into TEXT. */
static void time_text(time_t now, char text[24])
{
	struct tm utc;

	if (gmtime_r(&now, &utc) == NULL || strftime(text, 24, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
		(void)snprintf(text, 24, "unknown");
}

/* A memory BIO's content as malloc'd text with a NUL behind it. */
static char *copy_of(BIO *bio, size_t *length)
{
	char *bytes, *copy;
	long n = BIO_get_mem_data(bio, &bytes);

	if (n <= 0)
		return NULL;
	copy = malloc((size_t)n + 1);
	if (copy == NULL)
		return NULL;
	memcpy(copy, bytes, (size_t)n);
	copy[n] = '\0';
	*length = (size_t)n;
	return copy;
}

static bool describe(X509 *x509, struct certificate *certificate)
{
	autobio *out = BIO_new(BIO_s_mem());
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned digest_length = 0;
	time_t starts, ends;

	if (out == NULL || PEM_write_bio_X509(out, x509) != 1 ||
	    X509_digest(x509, EVP_sha256(), digest, &digest_length) != 1 ||
	    !time_of(X509_get0_notBefore(x509), &starts) ||
	    !time_of(X509_get0_notAfter(x509), &ends))
		return false;
	for (unsigned i = 0; i < digest_length && i < 32; i++)
		(void)snprintf(certificate->sha256 + (size_t)2 * i, 3, "%02x", digest[i]);
	time_text(starts, certificate->not_before);
	time_text(ends, certificate->not_after);
	certificate->pem = copy_of(out, &certificate->pem_length);
	return certificate->pem != NULL;
}

static bool holds(const char *text, size_t length, const char *needle)
{
	return memmem(text, length, needle, strlen(needle)) != NULL;
}

/* The one certificate in the text. */
static enum certificate_verdict read_one(const char *text, size_t length, X509 **x509)
{
	autobio *in = BIO_new_mem_buf(text, (int)length);
	autox509 *second = NULL;

	*x509 = in == NULL ? NULL : PEM_read_bio_X509(in, NULL, no_passphrase, NULL);
	if (*x509 == NULL)
		return holds(text, length, "-----BEGIN CERTIFICATE-----") ? CERTIFICATE_MALFORMED
									  : CERTIFICATE_MISSING;
	second = PEM_read_bio_X509(in, NULL, no_passphrase, NULL);
	return second == NULL ? CERTIFICATE_OK : CERTIFICATE_SEVERAL;
}

static enum certificate_verdict judge(X509 *x509, time_t now)
{
	/* 1: version 3, basicConstraints CA, and keyCertSign if there is a keyUsage. */
	if (X509_check_ca(x509) != 1)
		return CERTIFICATE_NOT_A_CA;
	if (X509_self_signed(x509, 1) != 1)
		return CERTIFICATE_NOT_SELF_SIGNED;
	if (X509_cmp_time(X509_get0_notAfter(x509), &now) <= 0)
		return CERTIFICATE_EXPIRED;
	return X509_cmp_time(X509_get0_notBefore(x509), &now) > 0 ? CERTIFICATE_NOT_YET_VALID
								  : CERTIFICATE_OK;
}

enum certificate_verdict certificate_read(const char *text, size_t length, bool with_key,
					  time_t now, struct certificate *certificate)
{
	autox509 *x509 = NULL;
	autokey *key = NULL;
	autobio *in = NULL;
	enum certificate_verdict verdict;

	memset(certificate, 0, sizeof(*certificate));
	/* What finds no memory sets it; the library has other words for it in each place. */
	errno = 0;
	verdict = read_one(text, length, &x509);
	if (x509 != NULL && !describe(x509, certificate))
		verdict = CERTIFICATE_MALFORMED;
	if (verdict == CERTIFICATE_OK && with_key) {
		in = BIO_new_mem_buf(text, (int)length);
		key = in == NULL ? NULL : PEM_read_bio_PrivateKey(in, NULL, no_passphrase, NULL);
		if (key == NULL)
			verdict = CERTIFICATE_KEY_MISSING;
		else if (X509_check_private_key(x509, key) != 1)
			verdict = CERTIFICATE_KEY_MISMATCH;
	}
	if (verdict == CERTIFICATE_OK)
		verdict = judge(x509, now);
	if (verdict != CERTIFICATE_OK && errno == ENOMEM)
		verdict = CERTIFICATE_NO_MEMORY;
	ERR_clear_error();
	return verdict;
}

void certificate_release(struct certificate *certificate)
{
	free(certificate->pem);
	certificate->pem = NULL;
}

static bool add_extension(X509 *x509, int nid, const char *value)
{
	X509V3_CTX context;
	X509_EXTENSION *extension;
	int added;

	X509V3_set_ctx_nodb(&context);
	X509V3_set_ctx(&context, x509, x509, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
	if (extension == NULL)
		return false;
	added = X509_add_ext(x509, extension, -1);
	X509_EXTENSION_free(extension);
	return added == 1;
}

/* RFC 5280 4.1.2.2: positive, at most 20 octets; random, so that no two authorities share one. */
static bool set_serial(X509 *x509)
{
	BIGNUM *number = BN_new();
	bool set = number != NULL && BN_rand(number, SERIAL_BITS, BN_RAND_TOP_ONE, 0) == 1 &&
		   BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x509)) != NULL;

	BN_free(number);
	return set;
}

static bool fill(X509 *x509, EVP_PKEY *key, const char *common_name, time_t now)
{
	X509_NAME *name = X509_get_subject_name(x509);

	return X509_set_version(x509, X509_VERSION_3) == 1 && set_serial(x509) &&
	       X509_time_adj_ex(X509_getm_notBefore(x509), 0, -BACKDATED, &now) != NULL &&
	       X509_time_adj_ex(X509_getm_notAfter(x509), 0, LIFETIME, &now) != NULL &&
	       X509_NAME_add_entry_by_txt(name, "O", MBSTRING_ASC, (const unsigned char *)"cell",
					  -1, -1, 0) == 1 &&
	       X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
					  (const unsigned char *)common_name, -1, -1, 0) == 1 &&
	       X509_set_issuer_name(x509, name) == 1 && X509_set_pubkey(x509, key) == 1 &&
	       add_extension(x509, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
	       add_extension(x509, NID_key_usage, "critical,keyCertSign,cRLSign") &&
	       add_extension(x509, NID_subject_key_identifier, "hash") &&
	       add_extension(x509, NID_authority_key_identifier, "keyid:always") &&
	       X509_sign(x509, key, EVP_sha256()) > 0;
}

bool certificate_name_is_valid(const char *common_name)
{
	size_t length = strlen(common_name);
	autofree char *line = text_to_line(common_name, length);

	return length >= 1 && length <= 64 && line != NULL && strcmp(line, common_name) == 0;
}

char *certificate_make(const char *common_name, time_t now, size_t *length, const char **reason)
{
	autokey *key = EVP_EC_gen("P-256");
	autox509 *x509 = X509_new();
	/* The key passes through this buffer: secure memory is wiped when it is freed. */
	autobio *out = BIO_new(BIO_s_secmem());
	char *text = NULL;

	if (key != NULL && x509 != NULL && out != NULL && fill(x509, key, common_name, now) &&
	    PEM_write_bio_PrivateKey(out, key, NULL, NULL, 0, NULL, NULL) == 1 &&
	    PEM_write_bio_X509(out, x509) == 1)
		text = copy_of(out, length);
	*reason = text != NULL ? NULL : ERR_reason_error_string(ERR_peek_error());
	if (text == NULL && *reason == NULL)
		*reason = "the OpenSSL library failed";
	ERR_clear_error();
	return text;
}

void certificate_wipe(char *text, size_t length)
{
	OPENSSL_cleanse(text, text == NULL ? 0 : length);
	free(text);
}

char *certificate_verdict_text(enum certificate_verdict verdict,
			       const struct certificate *certificate, time_t now)
{
	static const char *const words[] = {
		[CERTIFICATE_OK] = "usable",
		[CERTIFICATE_MISSING] = "it holds no certificate in PEM form",
		[CERTIFICATE_MALFORMED] = "its certificate is cut short or malformed",
		[CERTIFICATE_SEVERAL] = "it holds more than one certificate",
		[CERTIFICATE_KEY_MISSING] = "it holds no private key that can be read",
		[CERTIFICATE_KEY_MISMATCH] = "its private key is not the certificate's",
		[CERTIFICATE_NOT_A_CA] = "its certificate is not a CA's",
		[CERTIFICATE_NOT_SELF_SIGNED] = "its certificate is not signed by itself",
		[CERTIFICATE_EXPIRED] = "its certificate has expired",
		[CERTIFICATE_NOT_YET_VALID] = "its certificate is not yet valid",
		[CERTIFICATE_NO_MEMORY] = "there is no memory to read it",
	};
	char present[24], *text = NULL;
	int n;

	time_text(now, present);
	if (certificate->pem == NULL)
		n = asprintf(&text, "%s", words[verdict]);
	else
		n = asprintf(&text, "%s (valid %s to %s, now %s)", words[verdict],
			     certificate->not_before, certificate->not_after, present);
	return n < 0 ? NULL : text;
}
