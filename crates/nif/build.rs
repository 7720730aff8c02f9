//! Compiles the functions of the C interface that take a variable number of arguments: stable Rust can call such functions, but
//! cannot define them.

fn main() {
    println!("cargo:rerun-if-changed=c/variadic.c");
    cc::Build::new().file("c/variadic.c").opt_level(2).warnings(true).compile("heddle_nif_variadic");
}
