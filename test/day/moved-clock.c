// moved-clock SECONDS COMMAND [ARGUMENT...]: runs a command, and all that it starts, with the clock of the day moved.
//
// Programs read the clock through code that the kernel maps into each of them, the vDSO; so do those written in Go, which an
// LD_PRELOAD of libc does not reach. This program traces the command and all that it starts. At each exec it replaces that
// code, in the new program's own copy of it, by system calls whose result is moved by SECONDS. Clocks that count from the
// start of the machine, and with them all timers, stay as they are; so do the times of files.
//
// The exit status is the command's; 128 and the signal where one ended it; 70 where the clock cannot be moved. What the
// command leaves running is killed. For Linux on x86-64.

#define _GNU_SOURCE

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT = 70, PAGE = 4096, JUMP = 5, STUB_ROOM = 64 };

static void fail(const char *what) {
  fprintf(stderr, "moved-clock: the clock cannot be moved here: %s%s%s\n", what, errno ? ": " : "",
          errno ? strerror(errno) : "");
  exit(CANNOT);
}

// Each stub makes the system call of the function that it replaces and adds the offset, which is stored beside the stubs.
// A system call changes rax, rcx and r11 alone.
static const uint8_t CLOCK_GETTIME[] = {
    0xb8, 0xe4, 0, 0, 0,           // mov eax, 228
    0x0f, 0x05,                    // syscall
    0x85, 0xc0, 0x75, 0x13,        // test eax, eax; jnz end
    0x85, 0xff, 0x74, 0x05,        // test edi, edi; jz add (CLOCK_REALTIME)
    0x83, 0xff, 0x05, 0x75, 0x0a,  // cmp edi, 5; jne end (CLOCK_REALTIME_COARSE)
    0x48, 0x8b, 0x0d, 0, 0, 0, 0,  // add: mov rcx, [offset]
    0x48, 0x01, 0x0e,              // add [rsi], rcx
    0xc3,                          // end: ret
};
static const uint8_t GETTIMEOFDAY[] = {
    0xb8, 0x60, 0, 0, 0,           // mov eax, 96
    0x0f, 0x05,                    // syscall
    0x85, 0xc0, 0x75, 0x0f,        // test eax, eax; jnz end
    0x48, 0x85, 0xff, 0x74, 0x0a,  // test rdi, rdi; jz end
    0x48, 0x8b, 0x0d, 0, 0, 0, 0,  // mov rcx, [offset]
    0x48, 0x01, 0x0f,              // add [rdi], rcx
    0xc3,                          // end: ret
};
static const uint8_t TIME[] = {
    0xb8, 0xc9, 0, 0, 0,           // mov eax, 201
    0x0f, 0x05,                    // syscall
    0x48, 0x03, 0x05, 0, 0, 0, 0,  // add rax, [offset]
    0x48, 0x85, 0xff, 0x74, 0x03,  // test rdi, rdi; jz end
    0x48, 0x89, 0x07,              // mov [rdi], rax
    0xc3,                          // end: ret
};

static const struct stub {
  const char *name;
  const uint8_t *code;
  size_t length;
  size_t offset_at; // of the four bytes that lead to the offset
} STUBS[] = {
    {"__vdso_clock_gettime", CLOCK_GETTIME, sizeof CLOCK_GETTIME, 23},
    {"__vdso_gettimeofday", GETTIMEOFDAY, sizeof GETTIMEOFDAY, 19},
    {"__vdso_time", TIME, sizeof TIME, 10},
};
enum { STUB_COUNT = sizeof STUBS / sizeof *STUBS };

// The patched image, made once of this program's own, which is the same in every program.
static uint8_t *original, *patched, *scratch;
static size_t image_size;

static void put_distance(size_t at, size_t target) {
  int32_t distance = (int32_t)((intptr_t)target - (intptr_t)(at + 4));
  memcpy(patched + at, &distance, 4);
}

static void patch_function(const struct stub *stub, size_t function, size_t room) {
  memcpy(patched + room, stub->code, stub->length);
  patched[function] = 0xe9; // jmp
  put_distance(function + 1, room);
}

static void make_image(int64_t seconds) {
  const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
  errno = 0;
  if (vdso == NULL) fail("the kernel maps no vDSO");
  const Elf64_Ehdr *head = (const Elf64_Ehdr *)vdso;
  if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_machine != EM_X86_64) fail("the vDSO is not for x86-64");
  size_t end = head->e_shoff + (size_t)head->e_shnum * head->e_shentsize;
  image_size = (end + PAGE - 1) / PAGE * PAGE;
  original = malloc(image_size);
  patched = malloc(image_size);
  scratch = malloc(image_size);
  if (original == NULL || patched == NULL || scratch == NULL) fail("no memory");
  memcpy(original, vdso, image_size);
  memcpy(patched, vdso, image_size);

  // The stubs stand behind the image's end, where its last page is empty.
  size_t room = (end + 15) / 16 * 16, offset_place = room;
  if (room + STUB_ROOM * (STUB_COUNT + 1) > image_size) fail("the vDSO has no room left");
  for (size_t at = end; at < image_size; at++)
    if (vdso[at] != 0) fail("the vDSO's last page is in use");
  memcpy(patched + offset_place, &seconds, sizeof seconds);

  const Elf64_Shdr *sections = (const Elf64_Shdr *)(vdso + head->e_shoff);
  int found = 0;
  for (int s = 0; s < head->e_shnum; s++) {
    if (sections[s].sh_type != SHT_DYNSYM) continue;
    const Elf64_Sym *symbols = (const Elf64_Sym *)(vdso + sections[s].sh_offset);
    const char *names = (const char *)vdso + sections[sections[s].sh_link].sh_offset;
    for (size_t i = 0; i < sections[s].sh_size / sizeof *symbols; i++)
      for (int which = 0; which < STUB_COUNT; which++) {
        const struct stub *stub = &STUBS[which];
        if (strcmp(names + symbols[i].st_name, stub->name) != 0) continue;
        if (symbols[i].st_size < JUMP) fail("a function of the vDSO is too short");
        size_t place = room + STUB_ROOM * (size_t)(which + 1);
        patch_function(stub, symbols[i].st_value, place);
        put_distance(place + stub->offset_at, offset_place);
        found++;
      }
  }
  if (found != STUB_COUNT) fail("the vDSO lacks a function");
}

// 0 where it cannot be read.
static uint64_t vdso_of(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/auxv", pid);
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  Elf64_auxv_t entry;
  uint64_t base = 0;
  while (fread(&entry, sizeof entry, 1, file) == 1 && entry.a_type != AT_NULL)
    if (entry.a_type == AT_SYSINFO_EHDR) base = entry.a_un.a_val;
  fclose(file);
  return base;
}

// Why the clock of a program could not be moved; NULL when it was.
static const char *patch(pid_t pid) {
  uint64_t base = vdso_of(pid);
  if (base == 0) return "a program has no vDSO";
  struct iovec local = {scratch, image_size}, remote = {(void *)base, image_size};
  if (process_vm_readv(pid, &local, 1, &remote, 1, 0) != (ssize_t)image_size)
    return "a program's vDSO cannot be read";
  if (memcmp(scratch, original, image_size) != 0) return "a program has another vDSO: it is not for x86-64";
  for (size_t at = 0; at < image_size; at += sizeof(long)) {
    if (memcmp(original + at, patched + at, sizeof(long)) == 0) continue;
    long word;
    memcpy(&word, patched + at, sizeof word);
    if (ptrace(PTRACE_POKEDATA, pid, base + at, word) != 0) return "a program's vDSO cannot be written";
  }
  return NULL;
}

// At the exec stop, before the first instruction of the new program. One that was killed there needs no clock.
static void move_clock_of(pid_t pid) {
  const char *trouble = patch(pid);
  if (trouble == NULL) return;
  int why = errno;
  unsigned long message;
  if (ptrace(PTRACE_GETEVENTMSG, pid, 0, &message) != 0 && errno == ESRCH) return;
  errno = why;
  fail(trouble);
}

static pid_t command_pid;

static void pass_on(int signal) { kill(command_pid, signal); }

static pid_t start_command(char **command) {
  int go[2];
  if (pipe(go) != 0) fail("pipe");
  pid_t pid = fork();
  if (pid < 0) fail("fork");
  if (pid == 0) {
    char byte;
    close(go[1]);
    if (read(go[0], &byte, 1) != 1) _exit(CANNOT);
    close(go[0]);
    execvp(command[0], command);
    fprintf(stderr, "moved-clock: %s: %s\n", command[0], strerror(errno));
    _exit(127);
  }
  close(go[0]);
  long options = PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SEIZE, pid, 0, options) != 0) fail("ptrace is not permitted, or another program traces this one");
  if (write(go[1], "", 1) != 1) fail("pipe");
  close(go[1]);
  return pid;
}

// Lets a stopped thread go on as if it were not traced.
static void resume(pid_t pid, int status) {
  int signal = WSTOPSIG(status), event = status >> 16;
  if (event == PTRACE_EVENT_EXEC) move_clock_of(pid);
  if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) ptrace(PTRACE_LISTEN, pid, 0, 0);
  else ptrace(PTRACE_CONT, pid, 0, event == 0 ? signal : 0);
}

int main(int count, char **arguments) {
  char *rest = NULL;
  errno = 0;
  int64_t seconds = count > 2 ? strtoll(arguments[1], &rest, 10) : 0;
  if (count <= 2 || errno != 0 || *rest != '\0') {
    fprintf(stderr, "usage: moved-clock SECONDS COMMAND [ARGUMENT...]\n");
    return 64;
  }
  make_image(seconds);
  command_pid = start_command(arguments + 2);
  // A terminal's Ctrl-C reaches the command without this program's help.
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, pass_on);
  signal(SIGHUP, pass_on);
  for (;;) {
    int status;
    pid_t pid = waitpid(-1, &status, __WALL);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) fail("waitpid");
    if (WIFSTOPPED(status)) resume(pid, status);
    else if (pid == command_pid) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
}
