#!/usr/bin/env bash
# The journey with curl 7.82 or later.
set -euo pipefail

BASE_URL=${BASE_URL:-http://127.0.0.1:8080} CLIENT_ID=${CLIENT_ID:-sandbox-client} CLIENT_SECRET=${CLIENT_SECRET:-sandbox-secret}

# Prints a string member of the JSON answer. Prints nothing for null.
member() { sed -nE "s/.*\"$1\":\"([^\"]+)\".*/\1/p"; }
# Compares two values.
expect() { [ "$1" = "$2" ] || { echo "expected $1, got $2" >&2; exit 1; }; }

TOKEN=$(curl -sS --fail-with-body "$BASE_URL/api/v1/oauth/token" \
  -d grant_type=client_credentials -d "client_id=$CLIENT_ID" -d "client_secret=$CLIENT_SECRET" | member access_token)

# Sends a request and prints the answer. `call` also fails if the answer is an error.
request() { curl -sS -H "Authorization: Bearer $TOKEN" -H 'x-region: EU' "${@:2}" "$BASE_URL/api/v1$1"; }
call() { request "$@" --fail-with-body; }

# Reads all pages of a list.
pages() {
  local cursor page
  page=$(call "$1")
  while cursor=$(member nextCursor <<<"$page") && [ -n "$cursor" ]; do
    page=$(call "$1" --get --data-urlencode "cursor=$cursor")
  done
}

# A mandate. A second one of the same reference is refused.
MANDATE='{
  "mandateReference": "MND-0001",
  "type": "RECURRING",
  "creditor": {
    "name": "Acme GmbH",
    "bankIdentifier": { "type": "CREDITOR_IDENTIFIER", "value": "DE98ZZZ09999999999" }
  },
  "debtor": { "name": "Jane Doe", "iban": "DE89370400440532013000" }
}'
call /mandates --json "$MANDATE" >/dev/null
expect DUPLICATE_REFERENCE "$(request /mandates --json "$MANDATE" | member code)"
expect ACTIVE "$(call /mandates/MND-0001 | member status)"

# A collection under the mandate, and all collections by pages.
call /direct-debit >/dev/null --json '{
  "collectionReference": "COL-0001", "mandateReference": "MND-0001",
  "amount": "49.90", "currency": "EUR", "collectionDate": "2030-01-14"
}'
expect PENDING "$(call /direct-debit/COL-0001 | member status)"
pages '/direct-debit?limit=30'

# The end of the mandate, and all mandates by pages.
expect CANCELLED "$(call /mandates/MND-0001 -X DELETE | member status)"
pages '/mandates?limit=10'

# A payout link, and its cancellation.
LINK=$(call /payout-links --json '{
  "amount": "75.00", "currency": "EUR", "payoutMethod": "SEPA-INSTANT", "uiMode": "embedded", "expiryPeriod": "pt12h"
}' | member payoutLinkId)
call "/payout-links/$LINK/cancel" -X PATCH --json '{"cancellationComment": "Paid in cash instead"}'

# A bill with a document and a payment, and the bills that are not paid.
call /bills >/dev/null --json '{
  "uniqueReferenceIdentifier": "INV-0001", "type": "INVOICE", "cashflowType": "INFLOW",
  "counterpartyReference": "CP-ACME-EU-01", "currency": "EUR", "totalAmount": "1190.00", "dueDate": "2030-02-07"
}'
printf '%%PDF-1.4\n%%%%EOF\n' | call /bills/INV-0001/document -F 'file=@-;filename=invoice.pdf;type=application/pdf' >/dev/null
call /bills/INV-0001 -X PATCH --json '{"openAmount": "190.00"}' >/dev/null
expect PARTIALLY_PAID "$(call /bills/INV-0001 | member status)"
call '/bills?status=OPEN&status=PARTIALLY_PAID' >/dev/null
expect BILL_NOT_FOUND "$(request /bills/INV-0000 | member code)"

# The details of a counterparty, and the accounts.
call /counterparties/CP-ACME-EU-01 -X PATCH --json '{"emailAddress": "billing@brunnwald.example"}' >/dev/null
call /accounts >/dev/null
