//! The rules one by one, and against a naive implementation on random small inputs.

use proptest::prelude::*;

use super::*;

const NOW: Millis = 1_000;

fn node(name: &str, value: bool) -> Node {
    Node { node: name.parse().unwrap(), value, context: None, world: None, expires_at: None }
}

fn at(node: Node, context: &str) -> Node {
    Node { context: Some(context.parse().unwrap()), ..node }
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
        revision: 1,
    }
}

fn contexts(context: &str, world: &str) -> ContextSet {
    ContextSet::new(Some(&context.parse().unwrap()), Some(&world.parse().unwrap()))
}

fn value(own: &[Node], groups: &[Group], name: &str) -> Option<bool> {
    let current = contexts("server=lobby,gamemode=sky,difficulty=hard", "nether");
    resolve(own, groups, &current, NOW).check(name).map(|decision| decision.node.value)
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
fn groups_of_equal_priority_keep_the_order_of_the_memberships() {
    let groups = [
        group("a", 0, vec![node("x", false), node("y", false)]),
        group("b", 0, vec![node("x", true), node("y", true)]),
    ];
    assert_eq!(value(&[node("group.b", true), node("group.a", true)], &groups, "x"), Some(false), "by name");
    let bound = [at(node("group.b", true), "lobby"), node("group.a", true)];
    assert_eq!(value(&bound, &groups, "x"), Some(true), "bound to a context");
    let temporary = [until(node("group.b", true), 2_000), node("group.a", true)];
    assert_eq!(value(&temporary, &groups, "x"), Some(true), "temporary");
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
    let current = ContextSet::default();
    let resolved = resolve(&own, &groups, &current, NOW);
    let path = resolved.path(resolved.check("a").unwrap());
    assert_eq!(path.iter().map(|group| group.id.as_str()).collect::<Vec<_>>(), ["first", "deep"]);
}

#[test]
fn a_server_is_stronger_than_a_world_then_more_contexts_then_an_earlier_end() {
    for (weaker, stronger) in [
        (node("a", false), at(node("a", true), "lobby")),
        (at(node("a", false), "lobby"), at(node("a", true), "server=lobby,gamemode=sky")),
        (at(node("a", false), "gamemode=sky"), at(node("a", true), "world=nether")),
        (at(node("a", false), "world=nether"), at(node("a", true), "server=lobby")),
        (at(node("a", false), "world=nether,gamemode=sky"), at(node("a", true), "server=lobby")),
        (at(node("a", false), "gamemode=sky,gamemode=x"), at(node("a", true), "world=nether")),
        // The later name, like LuckPerms' ContextSetComparator.
        (at(node("a", false), "gamemode=sky"), at(node("a", true), "server=lobby,gamemode=sky")),
        (until(at(node("a", false), "difficulty=hard"), 2_000), at(node("a", true), "gamemode=sky")),
        (at(node("a", false), "gamemode=a,gamemode=sky"), at(node("a", true), "gamemode=sky,gamemode=x")),
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
fn an_exact_node_comes_before_wildcards() {
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
fn players_without_an_unconditional_group_get_default() {
    let groups = [group("Default", 0, vec![node("a", true)]), group("vip", 5, vec![node("b", true)])];
    assert_eq!(value(&[], &groups, "a"), Some(true));
    assert_eq!(value(&[node("group.vip", true)], &groups, "a"), None);
    assert_eq!(value(&[node("group.nobody", true)], &groups, "a"), Some(true), "no such group");
    assert_eq!(value(&[until(node("group.vip", true), NOW)], &groups, "a"), Some(true));
    let bound = [at(node("group.vip", true), "lobby")];
    assert_eq!((value(&bound, &groups, "a"), value(&bound, &groups, "b")), (Some(true), Some(true)));
    assert_eq!(value(&[node("group.vip", false)], &groups, "b"), None, "a denied membership is none");
    assert_eq!(value(&[], &groups, "group.default"), Some(true), "LuckPerms makes them members");
    assert_eq!(value(&bound, &groups, "group.default"), Some(true));
    assert_eq!(value(&[node("group.default", false)], &groups, "group.default"), Some(false));
    assert_eq!(value(&[node("group.vip", true)], &groups, "group.default"), None);
    assert_eq!(value(&[], &groups[1..], "group.default"), None, "there is no such group");
}

#[test]
fn a_group_is_found_by_its_exact_spelling_first() {
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

/// The rules, implemented as plainly as possible.
mod naive {
    use super::*;

    pub(super) fn check(own: &[Node], groups: &[Group], current: &ContextSet, name: &str) -> Option<bool> {
        let holders = holders(own, groups, current);
        let mut names = vec![name.to_owned()];
        let parts: Vec<&str> = name.split('.').collect();
        for length in (1..parts.len()).rev() {
            names.push(parts[..length].join(".") + ".*");
        }
        names.push("*".to_owned());
        names.iter().find_map(|name| holders.iter().find_map(|nodes| strongest(nodes, current, name)))
    }

    fn counts(node: &Node, current: &ContextSet) -> bool {
        node.is_live(NOW) && node.contexts().is_satisfied_by(current)
    }

    fn strongest(nodes: &[Node], current: &ContextSet, name: &str) -> Option<bool> {
        let mut best: Option<&Node> = None;
        for node in nodes.iter().filter(|node| counts(node, current) && node.node.as_str() == name) {
            if best.is_none_or(|best| beats(node, best)) {
                best = Some(node);
            }
        }
        best.map(|node| node.value)
    }

    fn beats(a: &Node, b: &Node) -> bool {
        let (x, y) = (a.contexts(), b.contexts());
        for key in ["server", "world"] {
            if x.contains_key(key) != y.contains_key(key) {
                return x.contains_key(key);
            }
        }
        if x.len() != y.len() {
            return x.len() > y.len();
        }
        let (x, y) = (x.into_pairs(), y.into_pairs());
        if x != y {
            return x > y;
        }
        match (a.expires_at, b.expires_at) {
            (Some(_), None) => return true,
            (None, Some(_)) => return false,
            (Some(x), Some(y)) if x != y => return x < y,
            _ => {}
        }
        (a.key(), a.value) < (b.key(), b.value)
    }

    /// Number of the holder's applicable nodes that it beats.
    fn own_rank(nodes: &[Node], node: &Node, current: &ContextSet) -> usize {
        nodes.iter().filter(|other| counts(other, current) && beats(node, other)).count()
    }

    fn holders(own: &[Node], groups: &[Group], current: &ContextSet) -> Vec<Vec<Node>> {
        let mut seen = vec![];
        let mut member = own.iter().filter(|node| node.is_live(NOW) && node.contexts().is_empty());
        let grouped =
            member.any(|node| node.value && groups.iter().any(|g| node.node.as_str() == format!("group.{}", g.id)));
        let mut all = vec![own.to_vec()];
        let has_default = groups.iter().any(|group| group.id == "default");
        let is_named = own.iter().any(|own| counts(own, current) && own.node.as_str() == "group.default");
        if !grouped && has_default && !is_named {
            all[0].push(node("group.default", true));
        }
        walk(own, !grouped, groups, current, &mut seen, &mut all);
        all
    }

    fn walk(
        nodes: &[Node],
        default: bool,
        groups: &[Group],
        current: &ContextSet,
        seen: &mut Vec<String>,
        all: &mut Vec<Vec<Node>>,
    ) {
        let mut own: Vec<&Node> = nodes.iter().filter(|node| node.value && counts(node, current)).collect();
        own.sort_by_key(|node| Reverse(own_rank(nodes, node, current)));
        let named = |name: &str| groups.iter().find(|group| name == format!("group.{}", group.id));
        let mut parents: Vec<&Group> = own.iter().filter_map(|node| named(node.node.as_str())).collect();
        parents.extend(default.then(|| named("group.default")).flatten());
        parents.sort_by_key(|group| -group.priority);
        for parent in parents {
            if !seen.contains(&parent.id) {
                seen.push(parent.id.clone());
                all.push(parent.nodes.clone());
                walk(&parent.nodes, false, groups, current, seen, all);
            }
        }
    }
}

const NAMES: [&str; 12] =
    ["a", "a.b", "a.b.c", "a.c", "a.*", "a.b.*", "*", "group.x", "group.y", "group.z", "group.default", "group.none"];
const CONTEXTS: [&str; 6] =
    ["", "", "server=lobby", "server=hub,server=lobby", "gamemode=sky", "server=lobby,gamemode=sky"];

fn any_node() -> impl Strategy<Value = Node> {
    let name = proptest::sample::select(&NAMES[..]);
    let context = proptest::sample::select(&CONTEXTS[..]);
    let world = proptest::sample::select(&["", "", "nether", "end"][..]);
    let end = proptest::option::weighted(0.4, 998_i64..1_004);
    (name, any::<bool>(), context, world, end).prop_map(|(name, value, context, world, expires_at)| Node {
        context: (!context.is_empty()).then(|| context.parse().unwrap()),
        world: (!world.is_empty()).then(|| world.parse().unwrap()),
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

fn any_contexts() -> impl Strategy<Value = ContextSet> {
    let context = proptest::sample::select(&CONTEXTS[..]);
    let world = proptest::sample::select(&["", "nether", "end"][..]);
    (context, world).prop_map(|(context, world)| contexts(context, world))
}

fn values(own: &[Node], groups: &[Group], current: &ContextSet) -> Vec<Option<bool>> {
    let resolved = resolve(own, groups, current, NOW);
    NAMES.iter().map(|name| resolved.check(name).map(|decision| decision.node.value)).collect()
}

proptest! {
    #[test]
    fn the_resolver_agrees_with_the_naive_one(
        own in proptest::collection::vec(any_node(), 0..7), groups in any_groups(), current in any_contexts(),
    ) {
        let naive: Vec<_> = NAMES.iter().map(|name| naive::check(&own, &groups, &current, name)).collect();
        prop_assert_eq!(values(&own, &groups, &current), naive);
    }

    #[test]
    fn the_stored_order_does_not_matter(
        own in proptest::collection::vec(any_node(), 0..7), groups in any_groups(), current in any_contexts(),
    ) {
        let mut reversed = (own.clone(), groups.clone());
        reversed.0.reverse();
        reversed.1.reverse();
        for group in &mut reversed.1 {
            group.nodes.reverse();
        }
        prop_assert_eq!(values(&own, &groups, &current), values(&reversed.0, &reversed.1, &current));
    }

    #[test]
    fn expired_nodes_do_not_matter(
        own in proptest::collection::vec(any_node(), 0..7), groups in any_groups(), current in any_contexts(),
    ) {
        let live = |nodes: &[Node]| nodes.iter().filter(|node| node.is_live(NOW)).cloned().collect::<Vec<_>>();
        let left: Vec<_> = groups.iter().map(|g| Group { nodes: live(&g.nodes), ..g.clone() }).collect();
        prop_assert_eq!(values(&own, &groups, &current), values(&live(&own), &left, &current));
    }

    #[test]
    fn an_exact_node_decides_despite_wildcards(
        own in proptest::collection::vec(any_node(), 0..7), groups in any_groups(), current in any_contexts(),
    ) {
        let resolved = resolve(&own, &groups, &current, NOW);
        for (name, decision) in resolved.decisions() {
            prop_assert_eq!(resolved.check(name).map(|found| found.node.key()), Some(decision.node.key()));
            prop_assert_eq!(fold(decision.node.node.as_str()), name);
        }
    }
}
