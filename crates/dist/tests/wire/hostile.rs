//! Packets of a peer that does not keep to the protocol. The long form is the example `fuzz_dist`.

#[path = "../../examples/fuzz_dist/attack.rs"]
mod attack;

use attack::Attack;

#[test]
fn no_packet_panics_or_takes_more_than_its_share() {
    for seed in 0..20 {
        let mut attack = Attack::new(seed);
        for n in 0..2000 {
            let packet = attack.packet();
            if let Err(what) = attack.receive(&packet) {
                panic!("packet {n} of seed {seed}: {what}");
            }
        }
        assert!(attack.accepted > 500 && attack.decoded > 200 && attack.refused > 100);
    }
}
