/* Unix sockets at which the program listens itself, or nobody, or another process does. With an
   argument, that is profiled, too, and may see a name of the client. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include "transparency.h"

static char folder[32];

static struct sockaddr_un at(const char* name) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (name[0] == '@') {
    strcpy(address.sun_path + 1, name + 1);
  } else {
    snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", folder, name);
  }
  return address;
}

static int try_connect(int file, const char* name) {
  const struct sockaddr_un address = at(name);
  return connect(file, (const struct sockaddr*)&address, sizeof address) == 0 ? 0 : errno;
}

static int bound(int type, const char* name) {
  const struct sockaddr_un address = at(name);
  const int file = socket(AF_UNIX, type, 0);
  if (bind(file, (const struct sockaddr*)&address, sizeof address) != 0) perror("bind");
  return file;
}
static int listening(int type, const char* name) {
  const int file = bound(type, name);
  if (listen(file, 1) != 0) perror("listen");
  return file;
}

/* A byte each way. */
static int talks(int listener, int type, const char* name) {
  const int client = socket(AF_UNIX, type, 0);
  char byte = 0;
  if (try_connect(client, name) != 0) return 0;
  const int server = accept(listener, NULL, NULL);
  const int sent = send(client, "a", 1, 0) == 1 && recv(server, &byte, 1, 0) == 1 && byte == 'a';
  const int back = send(server, "b", 1, 0) == 1 && recv(client, &byte, 1, 0) == 1 && byte == 'b';
  close(client);
  const int ended = recv(server, &byte, 1, 0) == 0;
  close(server);
  return sent && back && ended;
}

/* Two packets by one call, and what it makes of a bad pointer. */
static void several_at_once(void) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) return;
  char bytes[4] = "ab";
  struct iovec parts[4];
  struct mmsghdr messages[4] = {0};
  for (int i = 0; i < 4; ++i) {
    parts[i] = (struct iovec){&bytes[i], 1};
    messages[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
  }
  say("two sent at once", sendmmsg(ends[0], messages, 2, 0) == 2);
  say("and received",
      recvmmsg(ends[1], messages + 2, 2, 0, NULL) == 2 && memcmp(bytes, "abab", 4) == 0);
  say("none left", recvmmsg(ends[1], messages + 2, 2, MSG_DONTWAIT, NULL) == -1 && errno == EAGAIN);
  say("bad pointer", sendmmsg(ends[0], (struct mmsghdr*)8, 1, 0) == -1 && errno == EFAULT);
  close(ends[0]);
  close(ends[1]);
}

static void refusals(void) {
  const int listener = listening(SOCK_STREAM, "listener");
  int file = socket(AF_UNIX, SOCK_STREAM, 0);
  say("nothing there", try_connect(file, "nothing") == ENOENT);
  say("no pointer", connect(file, NULL, sizeof(struct sockaddr_un)) == -1 && errno == EFAULT);
  const struct sockaddr_un address = at("listener");
  say("no size", connect(file, (const struct sockaddr*)&address, 1) == -1 && errno == EINVAL);
  say("connected after that", try_connect(file, "listener") == 0);
  say("connected twice", try_connect(file, "listener") == EISCONN);
  const int datagrams = socket(AF_UNIX, SOCK_DGRAM, 0);
  say("of another type", try_connect(datagrams, "listener") == EPROTOTYPE);
  const struct sockaddr_un name = at("datagrams");
  say("which then gets a name", bind(datagrams, (const struct sockaddr*)&name, sizeof name) == 0);
  int full = 0;
  for (int i = 0; i < 8 && full == 0; ++i) {
    file = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    full = try_connect(file, "listener");
  }
  say("without waiting", full == EAGAIN);
  while (fcntl(listener, F_SETFL, O_NONBLOCK) == 0 && accept(listener, NULL, NULL) >= 0) {
  }
  say("tried again", try_connect(file, "listener") == 0);
  say("listens to what has no name",
      listen(socket(AF_UNIX, SOCK_DGRAM, 0), 1) == -1 && errno == EOPNOTSUPP);
  close(listener);
  file = socket(AF_UNIX, SOCK_STREAM, 0);
  say("nobody listens any more", try_connect(file, "listener") == ECONNREFUSED);
  file = socket(AF_UNIX, SOCK_STREAM, 0);
  say("nor now", try_connect(file, "listener") == ECONNREFUSED);
  unlink(at("listener").sun_path);
  const struct sockaddr_un again = at("listener");
  say("so it listens there",
      bind(file, (const struct sockaddr*)&again, sizeof again) == 0 && listen(file, 1) == 0);
}

/* Clients that have a name keep it; that of others is known to this process's servers only. */
static void names(int is_tree) {
  struct sockaddr_un found;
  socklen_t size = sizeof found;
  const int listener = listening(SOCK_STREAM, "named");
  const int client = bound(SOCK_STREAM, "client");
  say("a client with a name", try_connect(client, "named") == 0);
  const int server = accept(listener, (struct sockaddr*)&found, &size);
  say("is known by it", server >= 0 && strcmp(found.sun_path, at("client").sun_path) == 0);

  int ready[2];
  if (pipe(ready) != 0) return;
  const pid_t other = fork();
  if (other == 0) {
    const int own = listening(SOCK_STREAM, "other");
    char byte = 0;
    size = sizeof found;
    const int sent = write(ready[1], "x", 1) == 1;
    const int accepted = accept(own, (struct sockaddr*)&found, &size);
    const int unnamed = is_tree || size == sizeof(sa_family_t);
    _exit(sent && read(accepted, &byte, 1) == 1 && unnamed ? 7 : 8);
  }
  char byte;
  if (read(ready[0], &byte, 1) != 1) return;
  const int stranger = socket(AF_UNIX, SOCK_STREAM, 0);
  say("another process's server",
      try_connect(stranger, "other") == 0 && write(stranger, "x", 1) == 1);
  say_end("sees no name", other);
}

int main(int count, char** arguments) {
  (void)arguments;
  snprintf(folder, sizeof folder, "/tmp/unix-sockets.XXXXXX");
  if (mkdtemp(folder) == NULL) return 2;
  work(20);
  char abstract[40];
  snprintf(abstract, sizeof abstract, "@%s", folder);
  say("stream", talks(listening(SOCK_STREAM, "stream"), SOCK_STREAM, "stream"));
  say("packets", talks(listening(SOCK_SEQPACKET, "packets"), SOCK_SEQPACKET, "packets"));
  say("abstract name", talks(listening(SOCK_STREAM, abstract), SOCK_STREAM, abstract));
  several_at_once();
  refusals();
  names(count > 1);
  if (chdir(folder) != 0) return 2;
  const char* left[] = {"stream", "packets", "listener", "datagrams", "named", "client", "other"};
  for (unsigned i = 0; i < sizeof left / sizeof *left; ++i) unlink(left[i]);
  say("cleared up", rmdir(folder) == 0);
  work(20);
  return 0;
}
