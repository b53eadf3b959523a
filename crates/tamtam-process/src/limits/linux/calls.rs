//! The system calls that are ways out, by what they lead to. What is in no list is allowed.
//!
//! Numbers from 424 on are the same on every processor, and stand here as numbers: libraries name them years later.

use libc::*;

/// The first number that was unknown when these lists were written, with Linux 6.19.
pub(super) const FIRST_UNKNOWN: u32 = 471;
/// The first number that is the same on every processor.
pub(super) const FIRST_COMMON: u32 = 424;
/// The first number that was unknown when these lists were written, of those that the processor has for itself. On x86-64 two
/// follow (335, 336) that the kernel puts into programs which it probes; it asks no filter about those.
#[cfg(target_arch = "x86_64")]
pub(super) const FIRST_GAP: u32 = 335;
/// The first number that was unknown when these lists were written, of those that the processor has for itself.
#[cfg(not(target_arch = "x86_64"))]
pub(super) const FIRST_GAP: u32 = 295;

// `libc` has these for some processors only.
#[cfg(target_arch = "x86_64")]
const KEXEC_FILE_LOAD: c_long = SYS_kexec_file_load;
#[cfg(not(target_arch = "x86_64"))]
const KEXEC_FILE_LOAD: c_long = 294;
#[cfg(target_arch = "x86_64")]
const RENAMEAT: c_long = SYS_renameat;
#[cfg(not(target_arch = "x86_64"))]
const RENAMEAT: c_long = 38;
#[cfg(target_arch = "x86_64")]
const SETRLIMIT: c_long = SYS_setrlimit;
#[cfg(not(target_arch = "x86_64"))]
const SETRLIMIT: c_long = 164;

const PIDFD_SEND_SIGNAL: c_long = 424;
pub(super) const IO_URING_SETUP: c_long = 425;
const IO_URING_ENTER: c_long = 426;
const IO_URING_REGISTER: c_long = 427;
const OPEN_TREE: c_long = 428;
const MOVE_MOUNT: c_long = 429;
const FSOPEN: c_long = 430;
const FSCONFIG: c_long = 431;
const FSMOUNT: c_long = 432;
const FSPICK: c_long = 433;
const PIDFD_OPEN: c_long = 434;
pub(super) const CLONE3: c_long = 435;
const OPENAT2: c_long = 437;
const PIDFD_GETFD: c_long = 438;
const PROCESS_MADVISE: c_long = 440;
const MOUNT_SETATTR: c_long = 442;
const QUOTACTL_FD: c_long = 443;
const MEMFD_SECRET: c_long = 447;
const PROCESS_MRELEASE: c_long = 448;
const FCHMODAT2: c_long = 452;
pub(super) const FUTEX_REQUEUE_CALL: c_long = 456;
const STATMOUNT: c_long = 457;
const LISTMOUNT: c_long = 458;
const LSM_SET_SELF_ATTR: c_long = 460;
const SETXATTRAT: c_long = 463;
const GETXATTRAT: c_long = 464;
const LISTXATTRAT: c_long = 465;
const REMOVEXATTRAT: c_long = 466;
const OPEN_TREE_ATTR: c_long = 467;
const FILE_GETATTR: c_long = 468;
const FILE_SETATTR: c_long = 469;
const LISTNS: c_long = 470;

/// Ways around the filter itself: work that the kernel does unseen for the caller.
pub(super) const UNSEEN: &[c_long] = &[IO_URING_SETUP, IO_URING_ENTER, IO_URING_REGISTER];

/// Into the memory of other processes, into other namespaces, into parts of the kernel that are for its own tools, and what
/// only an administrator does. Refused with each wall.
pub(super) const MACHINE: &[c_long] = &[
    // Memory and descriptors of other processes.
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_move_pages,
    SYS_migrate_pages,
    PIDFD_GETFD,
    PROCESS_MADVISE,
    PROCESS_MRELEASE,
    // Namespaces and mounts.
    SYS_unshare,
    SYS_setns,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    OPEN_TREE,
    OPEN_TREE_ATTR,
    MOVE_MOUNT,
    FSOPEN,
    FSCONFIG,
    FSMOUNT,
    FSPICK,
    MOUNT_SETATTR,
    STATMOUNT,
    LISTMOUNT,
    LISTNS,
    // Parts of the kernel that have had many flaws and are of no use to a worker.
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_io_setup,
    SYS_lookup_dcookie,
    SYS_nfsservctl,
    SYS_personality,
    LSM_SET_SELF_ATTR,
    // Administration.
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    KEXEC_FILE_LOAD,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_syslog,
    SYS_vhangup,
    SYS_quotactl,
    QUOTACTL_FD,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_sethostname,
    SYS_setdomainname,
    #[cfg(target_arch = "x86_64")]
    SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    SYS_uselib,
];

/// What Landlock does not ask about: files without a path, and what belongs to a file beside its contents.
pub(super) const FILES: &[c_long] = &[
    // Files in memory, and by other names than paths.
    SYS_memfd_create,
    MEMFD_SECRET,
    SYS_mq_open,
    SYS_mq_unlink,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    // What others do with files.
    SYS_inotify_init1,
    SYS_inotify_add_watch,
    SYS_fanotify_init,
    SYS_fanotify_mark,
    // Permissions, owners, times, attributes.
    SYS_fchmod,
    SYS_fchmodat,
    FCHMODAT2,
    SYS_fchown,
    SYS_fchownat,
    SYS_utimensat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SETXATTRAT,
    SYS_getxattr,
    SYS_lgetxattr,
    SYS_fgetxattr,
    GETXATTRAT,
    SYS_listxattr,
    SYS_llistxattr,
    SYS_flistxattr,
    LISTXATTRAT,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    REMOVEXATTRAT,
    FILE_GETATTR,
    FILE_SETATTR,
    // Devices and sockets among files.
    SYS_mknodat,
    #[cfg(target_arch = "x86_64")]
    SYS_mknod,
    #[cfg(target_arch = "x86_64")]
    SYS_inotify_init,
    #[cfg(target_arch = "x86_64")]
    SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    SYS_chown,
    #[cfg(target_arch = "x86_64")]
    SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    SYS_utime,
    #[cfg(target_arch = "x86_64")]
    SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    SYS_futimesat,
];

/// Whatever opens or changes a file by its path: refused where no path is allowed, else a matter of Landlock.
pub(super) const PATHS: &[c_long] = &[
    SYS_openat,
    OPENAT2,
    SYS_truncate,
    SYS_unlinkat,
    SYS_renameat2,
    SYS_linkat,
    SYS_symlinkat,
    SYS_mkdirat,
    SYS_readlinkat,
    RENAMEAT,
    #[cfg(target_arch = "x86_64")]
    SYS_open,
    #[cfg(target_arch = "x86_64")]
    SYS_creat,
    #[cfg(target_arch = "x86_64")]
    SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    SYS_rename,
    #[cfg(target_arch = "x86_64")]
    SYS_link,
    #[cfg(target_arch = "x86_64")]
    SYS_symlink,
    #[cfg(target_arch = "x86_64")]
    SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    SYS_rmdir,
    #[cfg(target_arch = "x86_64")]
    SYS_readlink,
];

/// New sockets and new partners of sockets. `sendmsg` keeps its address in memory, where a filter cannot look.
pub(super) const NETWORK: &[c_long] = &[
    SYS_socket,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_sendmsg,
    SYS_sendmmsg,
];

/// New processes, other processes, what processes share by a number, and who this one is.
pub(super) const PROCESSES: &[c_long] = &[
    SYS_execve,
    SYS_execveat,
    SYS_setpgid,
    SYS_setsid,
    PIDFD_OPEN,
    PIDFD_SEND_SIGNAL,
    // Says a thread alone, which may be one of another process.
    SYS_tkill,
    SETRLIMIT,
    SYS_shmget,
    SYS_shmat,
    SYS_shmctl,
    SYS_semget,
    SYS_semctl,
    SYS_semop,
    SYS_semtimedop,
    SYS_msgget,
    SYS_msgctl,
    SYS_msgsnd,
    SYS_msgrcv,
    SYS_setuid,
    SYS_setgid,
    SYS_setreuid,
    SYS_setregid,
    SYS_setresuid,
    SYS_setresgid,
    SYS_setfsuid,
    SYS_setfsgid,
    SYS_setgroups,
    #[cfg(target_arch = "x86_64")]
    SYS_fork,
    #[cfg(target_arch = "x86_64")]
    SYS_vfork,
];

/// What a terminal or a pipe is asked by libraries. All other operations of `ioctl` are refused, among them the one that types
/// into the terminal of the shell (`TIOCSTI`).
pub(super) const IOCTL_ALLOWED: &[u64] = &[
    // TCGETS, TCGETS2: whether it is a terminal.
    0x5401,
    0x802c_542a,
    // TIOCGWINSZ: how large it is.
    0x5413,
    // FIONREAD: how much there is to read.
    0x541b,
    // FIONBIO: whether to wait.
    0x5421,
    // FIOCLEX, FIONCLEX: whether a program that is executed gets it.
    0x5451,
    0x5450,
];

/// What libraries say about their own threads and memory. All other operations of `prctl` are refused, among them those that
/// switch core dumps on, let in a debugger, and let the worker outlive the process that has started it.
pub(super) const PRCTL_ALLOWED: &[i32] = &[
    PR_SET_NAME,
    PR_GET_NAME,
    PR_SET_VMA,
    PR_GET_DUMPABLE,
    PR_GET_PDEATHSIG,
    PR_GET_NO_NEW_PRIVS,
    PR_SET_NO_NEW_PRIVS,
    PR_GET_SECCOMP,
    PR_SET_SECCOMP,
    PR_GET_TIMERSLACK,
    PR_SET_TIMERSLACK,
    PR_GET_THP_DISABLE,
    PR_SET_THP_DISABLE,
    PR_CAPBSET_READ,
    PR_GET_TID_ADDRESS,
];

/// Operations of `fcntl` that send a signal to a process which the caller names, that hold up others who open the file, or that
/// tell what they do in a folder.
pub(super) const FCNTL_REFUSED: &[i32] = &[F_SETOWN, F_SETOWN_EX, F_SETSIG, F_SETLEASE, F_NOTIFY];

/// Not in `libc`, the same on every processor here.
const F_SETSIG: i32 = 10;
const F_SETOWN_EX: i32 = 15;

/// Operations of `futex` that lead threads of other processes which share the word to another one, or keep those behind the caller in the kernel's list from being woken.
/// Refused where they are not said to be for the own process.
pub(super) const FUTEX_REFUSED: &[i32] = &[
    FUTEX_REQUEUE,
    FUTEX_CMP_REQUEUE,
    FUTEX_LOCK_PI,
    FUTEX_WAIT_REQUEUE_PI,
    FUTEX_CMP_REQUEUE_PI,
    FUTEX_LOCK_PI2,
];

/// What a thread may not be cloned with, beside what makes it no thread.
pub(super) const CLONE_REFUSED: &[i32] = &[
    CLONE_NEWNS,
    CLONE_NEWCGROUP,
    CLONE_NEWUTS,
    CLONE_NEWIPC,
    CLONE_NEWUSER,
    CLONE_NEWPID,
    CLONE_NEWNET,
];
