//! A shop whose sales become deliveries, and the game servers that carry them out.

use std::io::Write as _;

use serde_json::json;

use super::{SERVERS, Simulation, print_line};

const KITS: [&str; 3] = ["starter", "builder", "archer"];

impl Simulation {
    /// The shop sells a kit to a player.
    pub(super) async fn buy(&self, at: usize) -> anyhow::Result<()> {
        let player = &self.players[at];
        let kit = KITS[self.random_below(KITS.len())];
        // The shop may send the same order again: it is one delivery.
        let order = json!({
            "playerUuid": player.uuid, "kind": "kit", "payload": {"kit": kit},
            "reference": format!("order-{}", self.ids.uuid()),
        });
        self.connector.post("/api/plugin/deliveries", &order).await?;
        print_line!("  shop   {} bought the kit {kit}", player.name);
        Ok(())
    }

    /// The servers give their players what was bought. A connector is told by its event stream; the simulation asks.
    pub(super) async fn deliver(&self) -> anyhow::Result<()> {
        for server in &SERVERS {
            let ready = self.connector.get(&format!("/api/plugin/deliveries?serverId={}", server.id)).await?;
            for delivery in ready["items"].as_array().into_iter().flatten() {
                let path = format!("/api/plugin/deliveries/{}", delivery["deliveryId"]);
                let claim = self.connector.post(&format!("{path}/claim"), &json!({"serverId": server.id})).await;
                let claim = match claim {
                    Ok(claim) => claim["claim"].clone(),
                    // The player has left meanwhile.
                    Err(error) if error.is("not_ready") || error.is("claimed") || error.is("settled") => continue,
                    Err(error) => return Err(error.into()),
                };
                self.connector.post(&format!("{path}/complete"), &json!({"claim": claim})).await?;
                let buyer = self.players.iter().find(|player| delivery["playerUuid"] == player.uuid.to_string());
                let name = buyer.map_or("a player", |buyer| buyer.name.as_str());
                let kit = delivery["payload"]["kit"].as_str().unwrap_or_default();
                print_line!("  shop   {} gave {name} the kit {kit}", server.id);
            }
        }
        Ok(())
    }
}
