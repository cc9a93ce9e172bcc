//! Size limits of responses: documents are large, so lists of them are cut by bytes.

use std::collections::{HashMap, HashSet};

use crate::app::App;
use crate::collections::cursor::List;
use crate::collections::model::{CollectionName, DocumentId};
use crate::collections::service::{FoundDocument, FoundPage, Result};
use crate::collections::store::{self, FoundRow, SizedDocument, SizedRow};
use crate::http::answer::{AnswerBudget, json_size};
use crate::http::document::Document;
use crate::values::NetworkId;

/// Field names and quotes around each item.
const AROUND: usize = 20;

fn takes(budget: &mut AnswerBudget, id: &DocumentId, bytes: usize) -> bool {
    budget.take(bytes.saturating_add(json_size(id)).saturating_add(AROUND))
}

/// Documents of these rows, in order. Documents deleted meanwhile are left out.
async fn read(
    app: &App,
    network: NetworkId,
    collection: &CollectionName,
    rows: Vec<(DocumentId, SizedDocument)>,
) -> Result<Vec<FoundDocument>> {
    let mut found: Vec<(DocumentId, Option<Document>)> = Vec::with_capacity(rows.len());
    for (id, sized) in rows {
        found.push((id, sized.into_small()?));
    }
    let large: Vec<_> = found.iter().filter(|(_, doc)| doc.is_none()).map(|(id, _)| id.clone()).collect();
    let large = if large.is_empty() { vec![] } else { store::documents(&app.db, network, collection, &large).await? };
    let mut large: HashMap<_, _> = large.into_iter().map(|row| (row.id, row.doc)).collect();
    Ok(found.into_iter().filter_map(|(id, doc)| Some((id.clone(), doc.or_else(|| large.remove(&id))?))).collect())
}

/// Number of these documents that fit; they may have grown since their sizes were read.
fn fitting(found: &[FoundDocument]) -> usize {
    let mut budget = AnswerBudget::default();
    found.iter().take_while(|(id, doc)| takes(&mut budget, id, doc.as_str().len())).count()
}

/// Returns the documents that fit, and a cursor if there are more.
pub(super) async fn page(
    app: &App,
    network: NetworkId,
    list: List<'_>,
    mut rows: Vec<FoundRow>,
    mut has_more: bool,
) -> Result<FoundPage> {
    let mut budget = AnswerBudget::default();
    let fits = rows.iter().take_while(|row| takes(&mut budget, &row.position.id, row.sized.bytes())).count();
    has_more |= fits < rows.len();
    rows.truncate(fits);
    let (positions, rows): (Vec<_>, Vec<_>) =
        rows.into_iter().map(|row| (row.position.clone(), (row.position.id, row.sized))).unzip();
    let mut found = read(app, network, list.collection, rows).await?;
    let fits = fitting(&found);
    has_more |= fits < found.len();
    let is_cut = fits < found.len();
    found.truncate(fits);
    let last = match found.last() {
        // Documents deleted meanwhile are also behind the cursor, unless the list was cut before them.
        Some((id, _)) if is_cut => positions.iter().find(|position| position.id == *id),
        _ => positions.last(),
    };
    let next = last.filter(|_| has_more).map(|position| position.to_cursor(list));
    Ok((found, next))
}

/// Returns the documents that fit, each once at its first position in the request, and the ids of the others.
pub(super) async fn by_id(
    app: &App,
    network: NetworkId,
    collection: &CollectionName,
    ids: &[DocumentId],
) -> Result<(Vec<FoundDocument>, Vec<DocumentId>)> {
    let mut seen = HashSet::new();
    let asked: Vec<_> = ids.iter().filter(|id| seen.insert(*id)).cloned().collect();
    let sizes = store::sizes(&app.db, network, collection, &asked).await?;
    let mut sizes: HashMap<_, _> = sizes.into_iter().map(|SizedRow { id, sized }| (id, sized)).collect();
    let mut budget = AnswerBudget::default();
    let (mut rows, mut rest) = (vec![], vec![]);
    for id in asked {
        let Some(sized) = sizes.remove(&id) else { continue };
        if takes(&mut budget, &id, sized.bytes()) { rows.push((id, sized)) } else { rest.push(id) }
    }
    let mut found = read(app, network, collection, rows).await?;
    let grown = found.split_off(fitting(&found)).into_iter().map(|(id, _)| id);
    rest.splice(0..0, grown);
    Ok((found, rest))
}
