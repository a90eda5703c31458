/*
 * The system calls that call.c measures, one by one: CALL(name, what is prepared, system calls per
 * count, slow, right). Those of children count too; a slow one may take 50 us and more; `right`
 * makes the call and says whether its answer was right.
 */

/*
 * Of the process. A parent outside of this container is 0; the kernel answers 20 less the priority.
 */
CALL(getpid, nothing, 1, 0, syscall(SYS_getpid) == have.self)
CALL(getppid, nothing, 1, 0, syscall(SYS_getppid) >= 0)
CALL(gettid, nothing, 1, 0, syscall(SYS_gettid) == have.self)
CALL(getuid, nothing, 1, 0, getuid() == have.user)
CALL(getpgid, nothing, 1, 0, getpgid(0) >= 0)
CALL(getgroups, nothing, 1, 0, getgroups(0, NULL) >= 0)
CALL(setuid, nothing, 1, 0, syscall(SYS_setuid, have.user) == 0)
CALL(setgid, nothing, 1, 0, syscall(SYS_setgid, have.group) == 0)
CALL(umask, umask, 1, 0, umask(PREPARED_MASK) == PREPARED_MASK)
CALL(prctl, nothing, 1, 0, prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) >= 0)
CALL(personality, nothing, 1, 0, personality(0xffffffff) >= 0)
CALL(getpriority, nothing, 1, 0, syscall(SYS_getpriority, PRIO_PROCESS, 0) > 0)
CALL(setpriority, priority, 1, 0, setpriority(PRIO_PROCESS, 0, have.priority) == 0)
CALL(capget, nothing, 1, 0, read_capabilities())
CALL(getrlimit, nothing, 1, 0, read_limit())
CALL(getrusage, nothing, 1, 0, getrusage(RUSAGE_SELF, &(struct rusage){0}) == 0)
/* Of the system. */
CALL(uname, nothing, 1, 0, read_name())
CALL(sysinfo, nothing, 1, 0, read_system())
CALL(getrandom, nothing, 1, 0, syscall(SYS_getrandom, have.bytes, 16, 0) == 16)
/* Time and the scheduler. */
CALL(clock, nothing, 1, 0, read_clock())
CALL(nanosleep, nothing, 1, 1, syscall(SYS_nanosleep, &(struct timespec){0}, NULL) == 0)
CALL(yield, nothing, 1, 0, sched_yield() == 0)
CALL(getaffinity, nothing, 1, 0,
     syscall(SYS_sched_getaffinity, 0, sizeof have.bytes, have.bytes) > 0)
/* Signals. */
CALL(kill, nothing, 1, 0, kill(have.self, 0) == 0)
CALL(sigaction, nothing, 1, 0,
     sigaction(SIGUSR2, &(struct sigaction){.sa_handler = SIG_IGN}, NULL) == 0)
CALL(sigprocmask, nothing, 1, 0,
     syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &(uint64_t){1 << (SIGUSR2 - 1)}, NULL, SIGNALS) == 0)
/* Memory. */
CALL(mmap, nothing, 2, 0, mapped())
CALL(mprotect, area, 1, 0,
     mprotect(have.area, PREPARED_AREA, ++turn % 2 ? PROT_READ : PROT_READ | PROT_WRITE) == 0)
CALL(madvise, area, 1, 0, madvise(have.area, PREPARED_AREA, MADV_DONTNEED) == 0)
CALL(brk, nothing, 1, 0, syscall(SYS_brk, 0) > 0)
/* Descriptors. */
CALL(read, zero, 1, 0, read(have.file, have.bytes, 1) == 1)
CALL(write, null, 1, 0, write(have.file, have.bytes, 1) == 1)
CALL(pread, file, 1, 0, pread(have.file, have.bytes, 1, 0) == 1)
CALL(pwrite, file, 1, 0, pwrite(have.file, have.bytes, 1, 0) == 1)
CALL(lseek, file, 1, 0, lseek(have.file, 0, SEEK_SET) == 0)
CALL(dup, pipe, 2, 0, closed(dup(have.file)))
CALL(dup2, pipe, 1, 0, dup2(have.file, have.other) == have.other)
CALL(fcntl, pipe, 1, 0, fcntl(have.file, F_GETFD) == FD_CLOEXEC)
CALL(ioctl, pipe, 1, 0, none_waiting())
CALL(poll, event, 1, 0, poll(&(struct pollfd){.fd = have.file, .events = POLLIN}, 1, 0) == 0)
CALL(epoll, event, 1, 0, epoll_wait(have.other, &(struct epoll_event){0}, 1, 0) == 0)
CALL(select, event, 1, 0, none_ready())
CALL(eventfd, event, 1, 0, write(have.file, &(uint64_t){1}, sizeof(uint64_t)) == sizeof(uint64_t))
CALL(futex, nothing, 1, 0, syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) == 0)
CALL(flock, file, 2, 0, flock(have.file, LOCK_EX) == 0 && flock(have.file, LOCK_UN) == 0)
CALL(pipe, pipe, 2, 0, write(have.other, have.bytes, 1) == 1 && read(have.file, have.bytes, 1) == 1)
CALL(pipe2, nothing, 3, 0, piped())
CALL(memfd, nothing, 2, 0, closed(memfd_create("call", MFD_CLOEXEC)))
/* Names and files. */
CALL(open, file, 2, 0, closed(open("file", O_RDONLY | O_CLOEXEC)))
CALL(missing, file, 1, 0, open("missing", O_RDONLY | O_CLOEXEC) < 0 && errno == ENOENT)
CALL(creat, file, 3, 0,
     closed(open("new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) && unlink("new") == 0)
CALL(stat, file, 1, 0, stat("file", &found) == 0 && found.st_size == PREPARED_LENGTH)
CALL(fstat, file, 1, 0, fstat(have.file, &found) == 0 && found.st_size == PREPARED_LENGTH)
CALL(statx, file, 1, 0,
     statx(AT_FDCWD, "file", 0, STATX_BASIC_STATS, (struct statx *)have.bytes) == 0)
CALL(statfs, file, 1, 0, statfs("file", (struct statfs *)have.bytes) == 0)
CALL(access, file, 1, 0, access("file", R_OK) == 0)
CALL(rename, file, 1, 0, ++turn % 2 ? rename("file", "moved") == 0 : rename("moved", "file") == 0)
CALL(link, file, 2, 0, link("file", "new") == 0 && unlink("new") == 0)
CALL(symlink, file, 2, 0, symlink("file", "new") == 0 && unlink("new") == 0)
CALL(readlink, file, 1, 0, readlink("link", have.bytes, sizeof have.bytes) == sizeof "file" - 1)
CALL(mkdir, file, 2, 0, mkdir("new", 0700) == 0 && rmdir("new") == 0)
CALL(chmod, file, 1, 0, chmod("file", ++turn % 2 ? 0640 : 0600) == 0)
CALL(fchmod, file, 1, 0, fchmod(have.file, ++turn % 2 ? 0640 : 0600) == 0)
CALL(chown, file, 1, 0, chown("file", have.user, have.group) == 0)
CALL(utimensat, file, 1, 0, utimensat(AT_FDCWD, "file", NULL, 0) == 0)
CALL(ftruncate, file, 1, 0,
     ftruncate(have.file, ++turn % 2 ? 2 * PREPARED_LENGTH : PREPARED_LENGTH) == 0)
CALL(fsync, file, 1, 1, fsync(have.file) == 0)
CALL(getdents, folder, 2, 0,
     lseek(have.other, 0, SEEK_SET) == 0 &&
         syscall(SYS_getdents64, have.other, have.bytes, sizeof have.bytes) > 0)
CALL(getcwd, place, 1, 0, syscall(SYS_getcwd, have.bytes, sizeof have.bytes) > 0)
CALL(chdir, place, 1, 0, chdir(".") == 0)
CALL(fchdir, folder, 1, 0, fchdir(have.other) == 0)
/* The network. */
CALL(socket, nothing, 2, 0, closed(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)))
CALL(bind, address, 3, 0, bound())
CALL(connect, port, 1, 0,
     connect(have.other, (struct sockaddr *)&have.port, sizeof have.port) < 0 &&
         errno == ECONNREFUSED)
CALL(accept, listener, 1, 0, accept4(have.file, NULL, NULL, SOCK_CLOEXEC) < 0 && errno == EAGAIN)
CALL(setsockopt, port, 1, 0,
     setsockopt(have.file, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) == 0)
CALL(send, pair, 2, 0,
     sendto(have.other, have.bytes, 64, 0, NULL, 0) == 64 &&
         recvfrom(have.file, have.bytes, 64, 0, NULL, NULL) == 64)
/* Processes. */
CALL(fork, nothing, 3, 1, forked())
CALL(exec, image, 4, 1, executed())
