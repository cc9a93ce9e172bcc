fn main() {
    let dir = std::env::args().nth(1).unwrap();
    let (b, p) = hub_sandbox::build::build(dir.as_ref()).unwrap();
    println!("{} {} {:?} {}", b.name, b.component.len(), b.points, p.display());
}
