/* A plain C client for comparison with the transport: libcurl's multi interface on one thread, used as in its examples. */
#include "carabiner_benchmark.h"
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

static size_t receive(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes;
  *(size_t *)context += size * count;
  return size * count;
}

long bench_libcurl(const char *url, const char *body, long total, long concurrency) {
  if (total < 1 || concurrency < 1) return total;
  curl_global_init(CURL_GLOBAL_ALL);
  CURLM *multi = curl_multi_init();
  struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
  headers = curl_slist_append(headers, "Accept: application/json");
  headers = curl_slist_append(headers, "Expect:");
  size_t bytes = 0;
  long started = 0, finished = 0, failed = 0;
  for (; started < concurrency && started < total; started++) {
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)strlen(body));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &bytes);
    curl_multi_add_handle(multi, easy);
  }
  while (finished < total) {
    int running = 0, left = 0;
    curl_multi_perform(multi, &running);
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
      if (message->msg != CURLMSG_DONE) continue;
      CURL *easy = message->easy_handle;
      finished++;
      if (message->data.result != CURLE_OK) failed++;
      curl_multi_remove_handle(multi, easy);
      if (started < total) {
        started++;
        curl_multi_add_handle(multi, easy);
      } else {
        curl_easy_cleanup(easy);
      }
    }
    if (finished < total) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
  curl_slist_free_all(headers);
  curl_multi_cleanup(multi);
  return bytes > 0 ? failed : total;
}
