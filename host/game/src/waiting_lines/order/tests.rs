//! The order against one that sorts.

use proptest::prelude::*;

use super::*;

fn standing(seq: Seq, priority: i64, since: Millis) -> Standing {
    Standing { priority, since, seq, leads: false }
}

proptest! {
    #[test]
    fn places_are_those_of_a_sorted_list(
        tickets in prop::collection::vec((-1_000_i64..=1_000, 0_i64..2_000_000, 1_usize..5, any::<bool>()), 1..1_500),
        removed in prop::collection::vec(any::<prop::sample::Index>(), 0..100),
        now in 2_000_000_i64..4_000_000,
    ) {
        let mut line = LineOrder::default();
        let mut all: Vec<_> = tickets.iter().zip(1..).map(|((priority, since, size, leads), seq)| {
            (Standing { leads: *leads, ..standing(seq, *priority, *since) }, *size)
        }).collect();
        for (standing, size) in &all {
            line.insert(*standing, *size, now >= standing.constant_from());
        }
        for index in removed {
            if !all.is_empty() {
                let (standing, size) = all.swap_remove(index.index(all.len()));
                prop_assert!(line.remove(standing, size).is_some());
                prop_assert!(line.remove(standing, size).is_none());
            }
        }
        all.sort_by_key(|(standing, _)| standing.turn(now));
        prop_assert_eq!(line.iter(now).collect::<Vec<_>>(), all.iter().map(|(it, _)| it.seq).collect::<Vec<_>>());
        let mut before = 0;
        for (standing, size) in &all {
            prop_assert_eq!(line.players_before(standing.turn(now), now), before);
            before += size;
        }
        prop_assert_eq!(line.players(), before);
    }
}

#[test]
fn each_second_counts_one_point_up_to_a_thousand() {
    let (first, second) = (standing(1, 0, 0), standing(2, 10, 10_000));
    assert!(first.turn(20_000) < second.turn(20_000), "equal points: who came first");
    let second = standing(2, 11, 10_000);
    assert!(second.turn(20_000) < first.turn(20_000));
    let later = standing(3, 0, 1_000_000);
    assert!(first.turn(1_999_999) < later.turn(1_999_999));
    let higher = standing(4, 1, 900_000);
    assert!(first.turn(1_500_000) < higher.turn(1_500_000));
    assert!(higher.turn(1_900_000) < first.turn(1_900_000), "the first has a thousand points and no more");
    let returned = Standing { leads: true, ..standing(5, 0, 500) };
    assert!(returned.turn(2_000) < first.turn(2_000), "before all of the same points");
}
