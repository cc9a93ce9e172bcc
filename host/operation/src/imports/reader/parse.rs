//! Parser of each kind of file.

use crate::imports::balances::{self, PlayerSet};
use crate::imports::findings::Findings;
use crate::imports::forms::Expected;
use crate::imports::model::ImportKind;
use crate::imports::reader::ReadRequest;
use crate::imports::record::{Category, Item, ParseError, Record, Remark, Sink};
use crate::imports::source::{Form, SourceFile};
use crate::imports::{luckperms, punishments, vanilla};

/// Reads a file. Findings of this reading are put into `findings`, those of an earlier one are `known`.
pub(super) fn parse(
    file: &SourceFile,
    request: &ReadRequest,
    known: &Findings,
    findings: &mut Findings,
    sink: &mut Sink<'_>,
) -> Result<(), ParseError> {
    let (now, budget) = (request.created_at, sink.budget());
    match request.kind {
        ImportKind::LuckPerms => luckperms::read(file.text(budget, Expected::LuckPerms)?, now, known, sink),
        ImportKind::Vanilla => vanilla::read(file.text(budget, Expected::Lists)?, now, sink),
        ImportKind::LiteBans | ImportKind::AdvancedBan | ImportKind::LibertyBans | ImportKind::BanManager => {
            punishments::read(file, request, known, findings, sink)
        }
        ImportKind::Balances | ImportKind::PlayerPoints | ImportKind::XConomy => {
            let mut seen = PlayerSet::default();
            let mut first_of_each = |mut item: Item| {
                if let Record::Balance { player, .. } = item.record
                    && !seen.insert(player, budget).map_err(ParseError::exhausted)?
                {
                    item.record = Record::Skipped(Category::Balances);
                    let reason = "The file names the player twice; the first amount counts.";
                    item.notes = vec![Remark::new(format_args!("player {player}"), reason)];
                }
                sink.send(item)
            };
            parse_balances(file, request, known, findings, &mut Sink::new(budget, &mut first_of_each))
        }
    }
}

fn parse_balances(
    file: &SourceFile,
    request: &ReadRequest,
    known: &Findings,
    findings: &mut Findings,
    sink: &mut Sink<'_>,
) -> Result<(), ParseError> {
    match request.kind {
        ImportKind::PlayerPoints => balances::read_player_points(file, &request.options, sink),
        ImportKind::XConomy => balances::read_xconomy(file, &request.options, sink),
        _ if file.form == Form::Zip => balances::read_essentials(file.raw()?, sink),
        _ => {
            let table = file.text(sink.budget(), Expected::Table)?;
            balances::read_table(table, known.numbers, &mut findings.numbers, sink)
        }
    }
}
