"""The journey with the Python client of OpenAPI Generator."""
import os
import tempfile
from datetime import date

import openapi_client as api
from openapi_client.rest import ApiException

PDF = b"%PDF-1.4\n%%EOF\n"
REGION = "EU"


def pages(load, **query):
    """Yields the records of all pages of a list."""
    while True:
        page = load(REGION, **query)
        yield from page.data
        if not page.has_more:
            return
        query["cursor"] = page.next_cursor


def refusal(call, *arguments):
    """Returns the status and the error code of a call that fails."""
    try:
        call(*arguments)
    except ApiException as error:
        return error.status, client.deserialize(Answer(error.body), "ErrorEnvelope").code
    raise AssertionError("the call succeeds")


class Answer:
    """Wraps a body for deserialize(), which reads the member data."""

    def __init__(self, data):
        self.data = data


configuration = api.Configuration(host=os.environ.get("BASE_URL", "http://127.0.0.1:8080"))
client = api.ApiClient(configuration)
token = api.OauthApi(client).issue_token(
    client_id=os.environ.get("CLIENT_ID", "sandbox-client"),
    client_secret=os.environ.get("CLIENT_SECRET", "sandbox-secret"),
    grant_type="client_credentials",
)
configuration.access_token = token.access_token

mandates = api.MandatesApi(client)
direct_debit = api.DirectDebitApi(client)
payout_links = api.PayoutLinksApi(client)
bills = api.BillsApi(client)

# A mandate. A second one of the same reference is refused.
new_mandate = api.MandateCreateRequest(
    mandate_reference="MND-0001",
    type="RECURRING",
    creditor=api.MandateCreateRequestCreditor(
        name="Acme GmbH",
        bank_identifier=api.MandateCreditorBankIdentifier(type="CREDITOR_IDENTIFIER", value="DE98ZZZ09999999999"),
    ),
    debtor=api.MandateCreateRequestDebtor(name="Jane Doe", iban="DE89370400440532013000"),
)
mandates.create_mandate(REGION, new_mandate)
assert refusal(mandates.create_mandate, REGION, new_mandate) == (409, "DUPLICATE_REFERENCE")
mandate = mandates.get_mandate("MND-0001", REGION)
assert mandate.status == "ACTIVE"

# A collection under the mandate, and all collections by pages.
direct_debit.create_collection(
    REGION,
    api.CollectionCreateRequest(
        collection_reference="COL-0001",
        mandate_reference=mandate.mandate_reference,
        amount="49.90",
        currency="EUR",
        collection_date=date(2030, 1, 14),
    ),
)
collection = direct_debit.get_collection("COL-0001", REGION)
assert (collection.status, collection.collection_date) == ("PENDING", date(2030, 1, 14))
assert len(list(pages(direct_debit.list_collections, limit=30))) == 69

# The end of the mandate, and all mandates by pages.
assert mandates.cancel_mandate("MND-0001", REGION).status == "CANCELLED"
assert len(list(pages(mandates.list_mandates, limit=10))) == 18

# A payout link, and its cancellation.
link = payout_links.create_payout_link(
    REGION,
    api.PayoutLinkCreateRequest(
        amount="75.00", currency="EUR", payout_method="SEPA-INSTANT", ui_mode="embedded", expiry_period="pt12h"
    ),
)
payout_links.cancel_payout_link(
    link.payout_link_id, REGION, api.PayoutLinkCancelRequest(cancellation_comment="Paid in cash instead")
)

# A bill with a document and a payment, and the bills that are not paid.
bill = bills.create_bill(
    REGION,
    api.BillCreateRequest(
        unique_reference_identifier="INV-0001",
        type="INVOICE",
        cashflow_type="INFLOW",
        counterparty_reference="CP-ACME-EU-01",
        currency="EUR",
        total_amount="1190.00",
        due_date=date(2030, 2, 7),
    ),
)
reference = bill.unique_reference_identifier
with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
    file.write(PDF)
    file.flush()
    document = bills.upload_bill_document(reference, REGION, file.name)
assert document.size == len(PDF)
bills.update_bill(reference, REGION, api.BillUpdateRequest(open_amount="190.00"))
assert bills.get_bill(reference, REGION).status == "PARTIALLY_PAID"
open_bills = bills.list_bills(REGION, status=["OPEN", "PARTIALLY_PAID"])
assert open_bills.data[0].unique_reference_identifier == "INV-0001"
assert refusal(bills.get_bill, "INV-0000", REGION) == (404, "BILL_NOT_FOUND")

# The details of a counterparty, and the accounts.
counterparty = api.CounterpartiesApi(client).update_counterparty(
    "CP-ACME-EU-01", REGION, api.CounterpartyUpdateRequest(email_address="billing@brunnwald.example")
)
assert counterparty.email_address == "billing@brunnwald.example"
assert api.AccountsApi(client).list_accounts(REGION).total_count == 2
