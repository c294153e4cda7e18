/* Functions for the parts of libcurl that Swift cannot import: variadic functions, each here with its argument type, and unions. */
#pragma once
#include <curl/curl.h>

/* curl_easy_setopt is variadic, which Swift does not import. */
static inline CURLcode CCurl_setLong(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode CCurl_setOffset(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode CCurl_setPointer(CURL *easy, CURLoption option, const void *value) {
  return curl_easy_setopt(easy, option, value);
}
typedef size_t (*CCurl_writeFunction)(char *bytes, size_t size, size_t count, void *context);
static inline CURLcode CCurl_setWriteFunction(CURL *easy, CCurl_writeFunction function, void *context) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, function);
  return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_WRITEDATA, context) : code;
}
static inline CURLcode CCurl_setHeaderFunction(CURL *easy, CCurl_writeFunction function, void *context) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, function);
  return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_HEADERDATA, context) : code;
}
static inline CURLcode CCurl_setReadFunction(CURL *easy, CCurl_writeFunction function, void *context) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_READFUNCTION, function);
  return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_READDATA, context) : code;
}

typedef int (*CCurl_seekFunction)(void *context, curl_off_t offset, int origin);
static inline CURLcode CCurl_setSeekFunction(CURL *easy, CCurl_seekFunction function, void *context) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, function);
  return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_SEEKDATA, context) : code;
}
typedef int (*CCurl_debugFunction)(CURL *easy, curl_infotype type, char *bytes, size_t count, void *context);
static inline CURLcode CCurl_setDebugFunction(CURL *easy, CCurl_debugFunction function, void *context) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, function);
  return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_DEBUGDATA, context) : code;
}

/* Called before each time that libcurl sends the request of a transfer. */
typedef int (*CCurl_beginFunction)(void *context, char *address, char *localAddress, int port, int localPort);
static inline void CCurl_setBeginFunction(CURL *easy, CCurl_beginFunction function, void *context) {
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, function);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, context);
}

typedef curl_socket_t (*CCurl_openFunction)(void *context, curlsocktype purpose, struct curl_sockaddr *address);
typedef int (*CCurl_closeFunction)(void *context, curl_socket_t socket);
static inline void CCurl_setSocketFunctions(CURL *easy, CCurl_openFunction open, CCurl_closeFunction close, void *context) {
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, context);
}

/* curl_easy_getinfo is variadic. */
static inline long CCurl_getLong(CURL *easy, CURLINFO info) {
  long value = 0;
  curl_easy_getinfo(easy, info, &value);
  return value;
}
/* The socket of a connection that was opened with CURLOPT_CONNECT_ONLY; -1 if there is none. */
static inline curl_socket_t CCurl_getSocket(CURL *easy) {
  curl_socket_t socket = CURL_SOCKET_BAD;
  return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket) == CURLE_OK ? socket : CURL_SOCKET_BAD;
}
static inline const char *CCurl_getString(CURL *easy, CURLINFO info) {
  const char *value = NULL;
  curl_easy_getinfo(easy, info, &value);
  return value;
}
static inline void *CCurl_getPrivate(CURL *easy) {
  void *value = NULL;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value);
  return value;
}

/* curl_multi_setopt is variadic. */
typedef int (*CCurl_socketFunction)(CURL *easy, curl_socket_t socket, int what, void *context, void *socketContext);
typedef int (*CCurl_timerFunction)(CURLM *multi, long milliseconds, void *context);
static inline void CCurl_setMultiFunctions(CURLM *multi, CCurl_socketFunction socket, CCurl_timerFunction timer, void *context) {
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}
static inline void CCurl_setMultiLong(CURLM *multi, CURLMoption option, long value) {
  curl_multi_setopt(multi, option, value);
}

/* The message contains a union. */
static inline CURL *CCurl_nextFinished(CURLM *multi, CURLcode *code) {
  int remaining = 0;
  CURLMsg *message;
  while ((message = curl_multi_info_read(multi, &remaining))) {
    if (message->msg == CURLMSG_DONE) {
      *code = message->data.result;
      return message->easy_handle;
    }
  }
  return NULL;
}
