//! Nodes that should own shards: those that are fit and reached by all others.

use std::cmp::Reverse;
use std::collections::HashSet;

use crate::cluster::store::{Fitness, NodeRow};

/// A recently alive node, from the database.
#[derive(Clone, Debug)]
pub(super) struct LiveNode {
    pub(super) name: String,
    pub(super) fitness: Fitness,
    /// The nodes that it reaches.
    pub(super) reached: HashSet<String>,
}

impl From<NodeRow> for LiveNode {
    fn from(row: NodeRow) -> Self {
        let reached = serde_json::from_str(&row.reached).unwrap_or_default();
        Self { name: row.node, fitness: row.fitness, reached }
    }
}

impl LiveNode {
    fn reaches(&self, other: &Self) -> bool {
        self.reached.contains(&other.name)
    }
}

/// Nodes that are fit to own shards: those that reach the bus, or all if none does; of these, those with a correct
/// clock, or all if none has one. A missing bus is worse than a wrong clock.
pub(super) fn fit(mut nodes: Vec<LiveNode>) -> Vec<LiveNode> {
    let reasons: [fn(&Fitness) -> bool; 2] = [|fitness| fitness.reaches_bus, |fitness| fitness.is_clock_right];
    for is_fit in reasons {
        if nodes.iter().any(|node| is_fit(&node.fitness)) {
            nodes.retain(|node| is_fit(&node.fitness));
        }
    }
    nodes
}

/// Nodes that all reach each other, in the order of `nodes`. Nodes with the most broken links are left out first; of
/// the two ends of a link, first the unreached one, then the one with fewer `shards`. All nodes compute the same
/// result because they all read the database.
pub(super) fn connected(mut nodes: Vec<LiveNode>, shards: impl Fn(&str) -> usize) -> Vec<String> {
    loop {
        let others = |node: &LiveNode| nodes.iter().filter(|other| other.name != node.name).collect::<Vec<_>>();
        let rank = |node: &LiveNode| {
            let others = others(node);
            let broken = others.iter().filter(|other| !(node.reaches(other) && other.reaches(node))).count();
            let unreached_by = others.iter().filter(|other| !other.reaches(node)).count();
            (broken, unreached_by, Reverse(shards(&node.name)), node.name.clone())
        };
        match nodes.iter().map(rank).max() {
            Some((broken, _, _, worst)) if broken > 0 => nodes.retain(|node| node.name != worst),
            _ => return nodes.into_iter().map(|node| node.name).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes with one-letter names, each with the letters of the nodes it reaches.
    fn nodes(links: &[(&str, &str)]) -> Vec<LiveNode> {
        let node = |(name, reached): &(&str, &str)| LiveNode {
            name: (*name).to_owned(),
            fitness: Fitness { reaches_bus: true, is_clock_right: true },
            reached: reached.chars().map(String::from).collect(),
        };
        links.iter().map(node).collect()
    }

    fn connected_of(links: &[(&str, &str)], shards: impl Fn(&str) -> usize) -> String {
        connected(nodes(links), shards).concat()
    }

    #[test]
    fn whom_nobody_reaches_is_left_out() {
        let even = |_: &str| 1;
        assert_eq!(connected_of(&[("a", "")], even), "a", "a single node needs no others");
        assert_eq!(connected_of(&[("a", "bc"), ("b", "ac"), ("c", "ab")], even), "abc");
        assert_eq!(connected_of(&[("a", "c"), ("b", "ac"), ("c", "a")], even), "ac", "b's URL is wrong");
        assert_eq!(connected_of(&[("a", ""), ("b", "a")], |_| 1), "a", "b's URL is wrong");
        assert_eq!(connected_of(&[("a", "b"), ("b", "")], |name| usize::from(name == "a")), "b", "though a owns more");
        assert_eq!(connected_of(&[("a", ""), ("b", "ac"), ("c", "ab")], even), "bc", "a reaches nobody");
    }

    #[test]
    fn of_two_that_are_cut_from_each_other_the_one_with_more_shards_stays() {
        let cut = [("a", "c"), ("b", "c"), ("c", "ab")];
        assert_eq!(connected_of(&cut, |name| usize::from(name == "b")), "bc");
        assert_eq!(connected_of(&cut, |name| usize::from(name == "a")), "ac");
        assert_eq!(connected_of(&[("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")], |_| 1), "ab", "two halves");
    }

    #[test]
    fn a_node_that_joins_is_reached_first() {
        let joining = [("a", "b"), ("b", "a"), ("j", "ab")];
        assert_eq!(connected_of(&joining, |_| 0), "ab");
        assert_eq!(connected_of(&[("a", ""), ("j", "a")], |_| 0), "a");
    }

    #[test]
    fn unfit_nodes_count_where_none_is_fit() {
        let fit_of = |nodes_of: [(bool, bool); 3]| {
            let mut all = nodes(&[("a", "bc"), ("b", "ac"), ("c", "ab")]);
            for (node, (reaches_bus, is_clock_right)) in all.iter_mut().zip(nodes_of) {
                node.fitness = Fitness { reaches_bus, is_clock_right };
            }
            fit(all).into_iter().map(|node| node.name).collect::<String>()
        };
        assert_eq!(fit_of([(true, true), (false, true), (true, false)]), "a");
        assert_eq!(fit_of([(false, true), (false, true), (false, true)]), "abc", "the bus is lost");
        assert_eq!(fit_of([(true, false), (true, false), (true, false)]), "abc", "the database's clock is wrong");
        assert_eq!(fit_of([(false, false), (true, false), (true, false)]), "bc", "and a does not reach the bus");
        assert_eq!(
            fit_of([(false, true), (false, false), (false, true)]),
            "ac",
            "the bus is lost, and b's clock wrong"
        );
    }
}
