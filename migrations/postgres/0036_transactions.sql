-- Of several changes that were made together; null: the change was made alone.
ALTER TABLE currency_ledger ADD COLUMN transaction_id UUID;
