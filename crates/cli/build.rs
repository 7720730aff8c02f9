//! Libraries that a program loads (NIFs) find the functions of their C interfaces in the executable.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-link-arg-bins=-rdynamic");
}
