fn main() {
    heddle::main()
}
