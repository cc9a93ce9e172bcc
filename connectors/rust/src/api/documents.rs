//! Collections: documents under ids of your own, found by indexed fields. A document is JSON of at most 256 KiB.

use reqwest::Method;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::model::{
    CollectionDefinition, CollectionDocuments, CollectionItems, RegisteredCollection, RegisteredCollections,
};
use crate::{HubClient, HubError};

/// A query of documents by an indexed field.
#[derive(Clone, Debug)]
pub enum DocumentQuery {
    /// Documents with this value, by id.
    By(Value),
    /// Documents from one number to another, both included.
    Range {
        /// None: no lower bound.
        min: Option<f64>,
        /// None: no upper bound.
        max: Option<f64>,
        /// By the field.
        order: Order,
    },
    /// Documents with the greatest values.
    Top,
    /// All documents that have the field.
    All(Order),
}

/// The order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The least first.
    Ascending,
    /// The greatest first.
    Descending,
}

impl Order {
    fn name(self) -> &'static str {
        match self {
            Self::Ascending => "asc",
            Self::Descending => "desc",
        }
    }
}

impl HubClient {
    /// Creates collections, or adds indexes to them; do it at every start. An index may be `BUILDING` for a while.
    pub async fn register_collections(
        &self,
        collections: &[CollectionDefinition],
    ) -> Result<Vec<RegisteredCollection>, HubError> {
        let request = self.plugin(Method::POST, &["collections", "register"]);
        let answer: RegisteredCollections = request.json(&json!({"collections": collections})).safe().send().await?;
        Ok(answer.collections)
    }

    /// A document; none where there is none.
    pub async fn get_document<T: DeserializeOwned>(&self, collection: &str, id: &str) -> Result<Option<T>, HubError> {
        self.plugin(Method::GET, &["collections", collection, id]).find().await
    }

    /// Stores a document.
    pub async fn put_document(
        &self,
        collection: &str,
        id: &str,
        document: &impl serde::Serialize,
    ) -> Result<(), HubError> {
        self.plugin(Method::PUT, &["collections", collection, id]).json(document).run().await
    }

    /// Deletes a document; returns whether it existed.
    pub async fn delete_document(&self, collection: &str, id: &str) -> Result<bool, HubError> {
        let answer: Value = self.plugin(Method::DELETE, &["collections", collection, id]).send().await?;
        Ok(answer["deleted"] == true)
    }

    /// At most 200 documents by their ids.
    pub async fn get_documents(&self, collection: &str, ids: &[&str]) -> Result<CollectionDocuments, HubError> {
        self.plugin(Method::POST, &["collections", collection, "mget"]).json(&json!({"ids": ids})).safe().send().await
    }

    /// A page of up to 200 documents by an indexed field; the cursor is that of the page before.
    pub async fn find_documents(
        &self,
        collection: &str,
        field: &str,
        query: &DocumentQuery,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<CollectionItems, HubError> {
        let list = |route| self.plugin(Method::GET, &["collections", collection, route, field]);
        let request = match query {
            DocumentQuery::By(Value::String(text)) => list("by").query("value", text),
            DocumentQuery::By(value) => list("by").query("value", value),
            DocumentQuery::Range { min, max, order } => {
                list("range").query_if("min", *min).query_if("max", *max).query("order", order.name())
            }
            DocumentQuery::Top => list("top"),
            DocumentQuery::All(order) => list("page").query("order", order.name()),
        };
        request.query("limit", limit).query_if("cursor", cursor).send().await
    }
}
