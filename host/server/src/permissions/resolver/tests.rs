//! The rules one by one, and against a naive reading of them on random small inputs.

use proptest::prelude::*;

use super::*;
use crate::permissions::context::{Context, World};
use crate::values::Identifier;

const NOW: Millis = 1_000;

fn node(name: &str, value: bool) -> Node {
    Node { node: name.parse::<Identifier>().unwrap(), value, context: None, world: None, expires_at: None }
}

fn at(node: Node, context: &str) -> Node {
    Node { context: Some(Context::try_from(context.to_owned()).unwrap()), ..node }
}

fn until(node: Node, expires_at: Millis) -> Node {
    Node { expires_at: Some(expires_at), ..node }
}

fn group(id: &str, priority: i64, nodes: Vec<Node>) -> Group {
    Group {
        id: id.to_owned(),
        display_name: None,
        priority,
        chat_prefix: None,
        chat_prefix_color: None,
        chat_name_color: None,
        nodes,
    }
}

fn asker(context: &str, world: &str) -> Contexts {
    let context = Context::try_from(context.to_owned()).unwrap();
    Contexts::new(Some(&context), Some(&World::try_from(world.to_owned()).unwrap()))
}

fn value(own: &[Node], groups: &[Group], name: &str) -> Option<bool> {
    let place = asker("server=lobby,gamemode=sky", "nether");
    resolve(own, groups, &place, NOW).check(name).map(|decision| decision.node.value)
}

#[test]
fn own_nodes_come_before_groups_and_higher_groups_before_lower() {
    let groups = [
        group("low", 1, vec![node("a", false), node("b", false)]),
        group("high", 9, vec![node("a", true), node("b", true), node("c", true)]),
    ];
    let own = [node("group.low", true), node("group.high", true), node("c", false)];
    assert_eq!(value(&own, &groups, "A"), Some(true));
    assert_eq!(value(&own, &groups, "c"), Some(false));
    assert_eq!(value(&own, &groups, "d"), None);
}

#[test]
fn depth_comes_before_breadth() {
    let groups = [
        group("first", 2, vec![node("group.deep", true)]),
        group("second", 1, vec![node("a", false)]),
        group("deep", 0, vec![node("a", true)]),
    ];
    let own = [node("group.first", true), node("group.second", true)];
    assert_eq!(value(&own, &groups, "a"), Some(true));
    let place = Contexts::default();
    let resolved = resolve(&own, &groups, &place, NOW);
    let chain = resolved.chain(resolved.check("a").unwrap());
    assert_eq!(chain.iter().map(|group| group.id.as_str()).collect::<Vec<_>>(), ["first", "deep"]);
}

#[test]
fn the_more_bound_the_stronger_then_the_sooner_gone() {
    for (weaker, stronger) in [
        (node("a", false), at(node("a", true), "lobby")),
        (at(node("a", false), "lobby"), at(node("a", true), "server=lobby,gamemode=sky")),
        (at(node("a", false), "gamemode=sky"), at(node("a", true), "world=nether")),
        (at(node("a", false), "world=nether"), at(node("a", true), "server=lobby")),
        (node("a", false), until(node("a", true), 2_000)),
        (until(node("a", false), 3_000), until(node("a", true), 2_000)),
        (until(node("a", false), 2_000), at(node("a", true), "lobby")),
        (at(node("a", true), "server=hub"), node("a", true)),
        (until(node("a", false), NOW), node("a", true)),
    ] {
        for own in [[weaker.clone(), stronger.clone()], [stronger.clone(), weaker.clone()]] {
            assert_eq!(value(&own, &[], "a"), Some(true), "{own:?}");
        }
    }
}

#[test]
fn what_is_said_of_the_node_itself_comes_before_wildcards() {
    let groups = [group("base", 0, vec![node("kit.vip.use", false), node("kit.*", true)])];
    let own = [node("group.base", true), node("*", true), node("kit.vip.*", true)];
    assert_eq!(value(&own, &groups, "kit.vip.use"), Some(false));
    assert_eq!(value(&own, &groups, "kit.vip.other"), Some(true));
    assert_eq!(value(&own, &groups, "anything"), Some(true));
    let own = [node("group.base", true), node("*", false)];
    assert_eq!(value(&own, &groups, "kit.x"), Some(true), "the longest wildcard");
    assert_eq!(value(&own, &groups, "kit"), Some(false), "a wildcard does not cover its own stem");
}

#[test]
fn whoever_has_no_group_everywhere_is_in_default() {
    let groups = [group("Default", 0, vec![node("a", true)]), group("vip", 5, vec![node("b", true)])];
    assert_eq!(value(&[], &groups, "a"), Some(true));
    assert_eq!(value(&[node("group.vip", true)], &groups, "a"), None);
    assert_eq!(value(&[node("group.nobody", true)], &groups, "a"), Some(true), "a group that there is not");
    assert_eq!(value(&[until(node("group.vip", true), NOW)], &groups, "a"), Some(true));
    let bound = [at(node("group.vip", true), "lobby")];
    assert_eq!((value(&bound, &groups, "a"), value(&bound, &groups, "b")), (Some(true), Some(true)));
    assert_eq!(value(&[node("group.vip", false)], &groups, "b"), None, "a denied membership is none");
}

#[test]
fn a_group_is_found_by_its_spelling_first() {
    let groups = [group("VIP", 0, vec![node("a", true)]), group("vip", 0, vec![node("a", false)])];
    assert_eq!(value(&[node("group.vip", true)], &groups, "a"), Some(false));
    assert_eq!(value(&[node("Group.Vip", true)], &groups, "a"), Some(true));
}

#[test]
fn cycles_and_long_chains_end() {
    let mut groups: Vec<_> = (0..5_000)
        .map(|at| group(&format!("g{at}"), 0, vec![node(&format!("group.g{}", (at + 1) % 5_000), true)]))
        .collect();
    groups.push(group("self", 0, vec![node("group.self", true), node("a", true)]));
    assert_eq!(value(&[node("group.g7", true), node("group.self", true)], &groups, "a"), Some(true));
}

/// The rules, read as plainly as can be.
mod naive {
    use super::*;

    pub(super) fn check(own: &[Node], groups: &[Group], asker: &Contexts, name: &str) -> Option<bool> {
        let holders = holders(own, groups, asker);
        let mut names = vec![name.to_owned()];
        let parts: Vec<&str> = name.split('.').collect();
        for length in (1..parts.len()).rev() {
            names.push(parts[..length].join(".") + ".*");
        }
        names.push("*".to_owned());
        names.iter().find_map(|name| holders.iter().find_map(|nodes| strongest(nodes, asker, name)))
    }

    fn counts(node: &Node, asker: &Contexts) -> bool {
        node.is_live(NOW) && node.contexts().admit(asker)
    }

    fn strongest(nodes: &[Node], asker: &Contexts, name: &str) -> Option<bool> {
        let mut best: Option<&Node> = None;
        for node in nodes.iter().filter(|node| counts(node, asker) && node.node.as_str() == name) {
            if best.is_none_or(|best| beats(node, best)) {
                best = Some(node);
            }
        }
        best.map(|node| node.value)
    }

    fn beats(a: &Node, b: &Node) -> bool {
        let (x, y) = (a.contexts(), b.contexts());
        if x.len() != y.len() {
            return x.len() > y.len();
        }
        for key in ["server", "world"] {
            if x.names(key) != y.names(key) {
                return x.names(key);
            }
        }
        match (a.expires_at, b.expires_at) {
            (Some(_), None) => return true,
            (None, Some(_)) => return false,
            (Some(x), Some(y)) if x != y => return x < y,
            _ => {}
        }
        (a.key(), a.value) < (b.key(), b.value)
    }

    fn holders(own: &[Node], groups: &[Group], asker: &Contexts) -> Vec<Vec<Node>> {
        let mut all = vec![own.to_vec()];
        let mut seen = vec![];
        let mut member = own.iter().filter(|node| node.is_live(NOW) && node.contexts().is_empty());
        let grouped =
            member.any(|node| node.value && groups.iter().any(|g| node.node.as_str() == format!("group.{}", g.id)));
        walk(own, !grouped, groups, asker, &mut seen, &mut all);
        all
    }

    fn walk(
        nodes: &[Node],
        default: bool,
        groups: &[Group],
        asker: &Contexts,
        seen: &mut Vec<String>,
        all: &mut Vec<Vec<Node>>,
    ) {
        let joins = |group: &Group, node: &Node| {
            node.value && counts(node, asker) && node.node.as_str() == format!("group.{}", group.id)
        };
        let mut parents: Vec<&Group> = groups
            .iter()
            .filter(|group| nodes.iter().any(|node| joins(group, node)) || (default && group.id == "default"))
            .collect();
        parents.sort_by_key(|group| (-group.priority, group.id.clone()));
        for parent in parents {
            if !seen.contains(&parent.id) {
                seen.push(parent.id.clone());
                all.push(parent.nodes.clone());
                walk(&parent.nodes, false, groups, asker, seen, all);
            }
        }
    }
}

const NAMES: [&str; 12] =
    ["a", "a.b", "a.b.c", "a.c", "a.*", "a.b.*", "*", "group.x", "group.y", "group.z", "group.default", "group.none"];
const PLACES: [&str; 6] =
    ["", "", "server=lobby", "server=hub,server=lobby", "gamemode=sky", "server=lobby,gamemode=sky"];

fn any_node() -> impl Strategy<Value = Node> {
    let name = proptest::sample::select(&NAMES[..]);
    let place = proptest::sample::select(&PLACES[..]);
    let world = proptest::sample::select(&["", "", "nether", "end"][..]);
    let end = proptest::option::weighted(0.4, 998_i64..1_004);
    (name, any::<bool>(), place, world, end).prop_map(|(name, value, place, world, expires_at)| Node {
        context: (!place.is_empty()).then(|| Context::try_from(place.to_owned()).unwrap()),
        world: (!world.is_empty()).then(|| World::try_from(world.to_owned()).unwrap()),
        expires_at,
        ..node(name, value)
    })
}

fn any_groups() -> impl Strategy<Value = Vec<Group>> {
    let nodes = || proptest::collection::vec(any_node(), 0..6);
    (nodes(), nodes(), nodes(), nodes(), proptest::array::uniform4(-1_i64..2)).prop_map(|(x, y, z, d, priorities)| {
        let names = ["x", "y", "z", "default"];
        names
            .into_iter()
            .zip(priorities)
            .zip([x, y, z, d])
            .map(|((id, priority), nodes)| group(id, priority, nodes))
            .collect()
    })
}

fn any_asker() -> impl Strategy<Value = Contexts> {
    let place = proptest::sample::select(&PLACES[..]);
    let world = proptest::sample::select(&["", "nether", "end"][..]);
    (place, world).prop_map(|(place, world)| asker(place, world))
}

fn values(own: &[Node], groups: &[Group], place: &Contexts) -> Vec<Option<bool>> {
    let resolved = resolve(own, groups, place, NOW);
    NAMES.iter().map(|name| resolved.check(name).map(|decision| decision.node.value)).collect()
}

proptest! {
    #[test]
    fn the_resolver_reads_the_rules_as_the_naive_reader_does(
        own in proptest::collection::vec(any_node(), 0..7), groups in any_groups(), place in any_asker(),
    ) {
        let naive: Vec<_> = NAMES.iter().map(|name| naive::check(&own, &groups, &place, name)).collect();
        prop_assert_eq!(values(&own, &groups, &place), naive);
    }

    #[test]
    fn the_order_of_what_is_stored_counts_for_nothing(
        own in proptest::collection::vec(any_node(), 0..7), groups in any_groups(), place in any_asker(),
    ) {
        let mut turned = (own.clone(), groups.clone());
        turned.0.reverse();
        turned.1.reverse();
        for group in &mut turned.1 {
            group.nodes.reverse();
        }
        prop_assert_eq!(values(&own, &groups, &place), values(&turned.0, &turned.1, &place));
    }

    #[test]
    fn what_has_expired_counts_for_nothing(
        own in proptest::collection::vec(any_node(), 0..7), groups in any_groups(), place in any_asker(),
    ) {
        let live = |nodes: &[Node]| nodes.iter().filter(|node| node.is_live(NOW)).cloned().collect::<Vec<_>>();
        let left: Vec<_> = groups.iter().map(|g| Group { nodes: live(&g.nodes), ..g.clone() }).collect();
        prop_assert_eq!(values(&own, &groups, &place), values(&live(&own), &left, &place));
    }

    #[test]
    fn an_explicit_node_decides_whatever_wildcards_say(
        own in proptest::collection::vec(any_node(), 0..7), groups in any_groups(), place in any_asker(),
    ) {
        let resolved = resolve(&own, &groups, &place, NOW);
        for (name, decision) in resolved.all() {
            prop_assert_eq!(resolved.check(name).map(|found| found.node.key()), Some(decision.node.key()));
            prop_assert_eq!(fold(decision.node.node.as_str()), name);
        }
    }
}
