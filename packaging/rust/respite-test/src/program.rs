//! Where the program is.

use std::io::Result;
use std::path::PathBuf;
use std::{env, fs};

#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
use respite_server_linux_aarch64 as packed;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use respite_server_linux_x86_64 as packed;

/// The path of respite-server: `$RESPITE_SERVER`, or the one that comes with this crate, which is written once into the
/// user's cache.
pub fn find() -> Result<PathBuf> {
    match env::var_os("RESPITE_SERVER") {
        Some(given) => Ok(given.into()),
        None => unpacked(),
    }
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn unpacked() -> Result<PathBuf> {
    use std::os::unix::fs::PermissionsExt;

    let folder = cache().join("respite").join(&packed::DIGEST[..16]);
    let program = folder.join("respite-server");
    if !program.exists() {
        fs::create_dir_all(&folder)?;
        // Written beside and renamed, since other tests may do the same.
        let part = folder.join(format!("unpacking-{}-{:?}", std::process::id(), std::thread::current().id()));
        fs::write(&part, packed::PROGRAM)?;
        fs::set_permissions(&part, fs::Permissions::from_mode(0o755))?;
        fs::rename(&part, &program)?;
    }
    Ok(program)
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn unpacked() -> Result<PathBuf> {
    Err(std::io::Error::new(std::io::ErrorKind::NotFound, "there is no respite-server for this platform; RESPITE_SERVER can name one"))
}

fn cache() -> PathBuf {
    if let Some(given) = env::var_os("XDG_CACHE_HOME").filter(|value| !value.is_empty()) {
        return given.into();
    }
    env::var_os("HOME").map_or_else(env::temp_dir, |home| PathBuf::from(home).join(".cache"))
}
