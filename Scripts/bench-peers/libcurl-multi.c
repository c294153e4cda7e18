/* The plain C client the transport is measured beside: libcurl's multi interface, one thread, many requests at once.
 *
 * usage: libcurl-multi URL TOTAL CONCURRENCY      build: cc -O2 -o libcurl-multi libcurl-multi.c -lcurl */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const char body[] =
    "{\"operationName\":\"Hero\",\"query\":\"query Hero($id: ID!) { hero(id: $id) { id name friends { id name } } }\","
    "\"variables\":{\"id\":\"1\"}}";

typedef struct transfer {
  size_t bytes;
} transfer;

static size_t receive(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes;
  ((transfer *)context)->bytes += size * count;
  return size * count;
}

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec / 1e6; }

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: %s URL TOTAL CONCURRENCY\n", argv[0]);
    return 2;
  }
  long total = strtol(argv[2], NULL, 10), concurrency = strtol(argv[3], NULL, 10), started = 0, finished = 0, failed = 0;
  if (total < 1 || concurrency < 1 || concurrency > 10000) return 2;
  curl_global_init(CURL_GLOBAL_ALL);
  CURLM *multi = curl_multi_init();
  struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
  headers = curl_slist_append(headers, "Accept: application/json");
  headers = curl_slist_append(headers, "Expect:");
  transfer *transfers = calloc((size_t)concurrency, sizeof *transfers);
  for (long i = 0; i < concurrency && started < total; i++, started++) {
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, argv[1]);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)sizeof body - 1);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfers[i]);
    curl_multi_add_handle(multi, easy);
  }
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
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
  clock_gettime(CLOCK_MONOTONIC, &end);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  double wall = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
  double cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  printf("%ld requests, %ld failed, %.2f s, %.1f us of CPU per request\n", finished, failed, wall, cpu * 1e6 / (double)total);
  free(transfers);
  curl_multi_cleanup(multi);
  return failed ? 1 : 0;
}
