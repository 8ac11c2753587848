//! The path of the program.

use std::env;
use std::io::Result;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Duration;

const TEXT_FILE_BUSY: i32 = 26;
const MOST_TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// Returns the path of respite-server: `$RESPITE_SERVER`, or the program of this crate, which is written once into the
/// user's cache.
pub fn find() -> Result<PathBuf> {
    match env::var_os("RESPITE_SERVER") {
        Some(given) => Ok(given.into()),
        None => packed::unpacked(),
    }
}

/// Starts a program that may just have been written. A process that another thread is starting may have the file open
/// for writing for a moment, and during this time the file cannot be run.
pub(crate) fn start(command: &mut Command) -> Result<Child> {
    for _ in 1..MOST_TRIES {
        match command.spawn() {
            Err(error) if error.raw_os_error() == Some(TEXT_FILE_BUSY) => std::thread::sleep(PAUSE),
            done => return done,
        }
    }
    command.spawn()
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod packed {
    use std::fs::{self, DirBuilder, Permissions};
    use std::io::{Error, ErrorKind, Result, Write};
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
    use std::path::{Path, PathBuf};
    use std::process::{self, Command, Stdio};
    use std::sync::Mutex;
    use std::{env, thread};

    #[cfg(target_arch = "aarch64")]
    use respite_server_linux_aarch64::{DIGEST, PROGRAM};
    #[cfg(target_arch = "x86_64")]
    use respite_server_linux_x86_64::{DIGEST, PROGRAM};

    static FOUND: Mutex<Option<PathBuf>> = Mutex::new(None);

    /// Uses the user's cache. If nothing can be kept or run there, uses the user's own folder for temporary files.
    pub(super) fn unpacked() -> Result<PathBuf> {
        let mut found = FOUND.lock().map_err(|_| Error::from(ErrorKind::Other))?;
        if let Some(program) = found.as_ref().filter(|program| is_whole(program)) {
            return Ok(program.clone());
        }
        let kept = cache().and_then(|folder| unpacked_in(&folder.join("respite")).ok());
        let program = kept.map_or_else(|| unpacked_in(&own_folder()?), Ok)?;
        *found = Some(program.clone());
        Ok(program)
    }

    fn cache() -> Option<PathBuf> {
        let given = env::var_os("XDG_CACHE_HOME").filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = given.or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")));
        folder.filter(|folder| folder.is_absolute())
    }

    /// The folder is below one to which every user can write, so another user may have created it.
    fn own_folder() -> Result<PathBuf> {
        let own = fs::metadata("/proc/self")?.uid();
        let folder = env::temp_dir().join(format!("respite-{own}"));
        let made = DirBuilder::new().mode(0o700).create(&folder);
        made.or_else(|error| if error.kind() == ErrorKind::AlreadyExists { Ok(()) } else { Err(error) })?;
        let found = fs::symlink_metadata(&folder)?;
        if !found.is_dir() || found.uid() != own || found.mode() & 0o022 != 0 {
            return Err(refusal(&folder, "is not a folder of this user alone"));
        }
        Ok(folder)
    }

    fn refusal(path: &Path, why: &str) -> Error {
        Error::new(ErrorKind::PermissionDenied, format!("{} {why}; RESPITE_SERVER can name the program", path.display()))
    }

    fn unpacked_in(place: &Path) -> Result<PathBuf> {
        let folder = place.join(&DIGEST[..16]);
        let program = folder.join("respite-server");
        if !is_whole(&program) {
            fs::create_dir_all(&folder)?;
            write(&folder, &program)?;
            check_that_it_runs(&program)?;
        }
        Ok(program)
    }

    fn is_whole(program: &Path) -> bool {
        fs::metadata(program).map_or(false, |found| found.len() == PROGRAM.len() as u64 && found.mode() & 0o100 != 0)
    }

    /// Only running a program shows whether this file system allows it.
    fn check_that_it_runs(program: &Path) -> Result<()> {
        let mut command = Command::new(program);
        command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if super::start(&mut command).and_then(|mut child| child.wait()).map_or(false, |status| status.success()) {
            return Ok(());
        }
        fs::remove_file(program)?;
        Err(refusal(program, "may not be run there"))
    }

    /// Writes to a file next to the path and renames it, since other tests may do this at the same time.
    fn write(folder: &Path, program: &Path) -> Result<()> {
        let part = folder.join(format!("unpacking-{}-{:?}", process::id(), thread::current().id()));
        let written = write_new(&part).and_then(|()| fs::rename(&part, program));
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        written
    }

    fn write_new(part: &Path) -> Result<()> {
        let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o700).open(part)?;
        file.write_all(PROGRAM)?;
        file.set_permissions(Permissions::from_mode(0o755))
    }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod packed {
    use std::io::{Error, ErrorKind, Result};
    use std::path::PathBuf;

    pub(super) fn unpacked() -> Result<PathBuf> {
        Err(Error::new(
            ErrorKind::NotFound,
            "Respite runs on Linux (x86_64, aarch64) only, so far: use a Linux container or virtual machine, or WSL 2. \
             RESPITE_SERVER can name another program",
        ))
    }
}
