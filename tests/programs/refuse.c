// refuse WHAT[,WHAT...] PROGRAM ARGUMENTS: executes a program to which the kernel refuses some
// calls, as the default filters of containers do. WHAT: descriptors (a table of one's own), perf,
// ptrace.
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
  const char* what;
  unsigned call;
} calls[] = {
    {"descriptors", SYS_close_range}, {"descriptors", SYS_unshare},
    {"perf", SYS_perf_event_open},    {"ptrace", SYS_ptrace},
    {"ptrace", SYS_process_vm_readv}, {"ptrace", SYS_process_vm_writev},
};

int main(int count, char** arguments) {
  struct sock_filter code[64];
  unsigned short length = 0;
  code[length++] =
      (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (size_t i = 0; count > 2 && i < sizeof calls / sizeof *calls; ++i) {
    if (strstr(arguments[1], calls[i].what) == NULL) continue;
    code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].call, 0, 1);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  }
  code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog filter = {length, code};
  if (count < 3 || length < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    perror("refuse");
    return 125;
  }
  execvp(arguments[2], arguments + 2);
  return 126;
}
