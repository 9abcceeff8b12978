/** The text of the fields of a claim, which the script in the browser shares. */
export const fieldTexts = {
  name: {
    label: 'Account holder',
    hint: 'The full name on the bank account',
    missing: 'Enter the name of the account holder.',
    invalid: 'Enter a name of at most 140 characters.',
  },
  iban: {
    label: 'IBAN',
    hint: 'For example DE89 3704 0044 0532 0130 00',
    missing: 'Enter your IBAN.',
    invalid: 'Enter a valid IBAN of a SEPA country. Check for a mistyped character.',
  },
  usAccount: {
    label: 'Account number',
    hint: '4 to 17 digits',
    missing: 'Enter your account number.',
    invalid: 'Enter an account number of 4 to 17 digits.',
  },
  ukAccount: {
    label: 'Account number',
    hint: '8 digits',
    missing: 'Enter your account number.',
    invalid: 'Enter an account number of 8 digits.',
  },
  routing: {
    label: 'Routing number',
    hint: '9 digits',
    missing: 'Enter the routing number of your bank.',
    invalid: 'This routing number is not valid. Check for a mistyped digit.',
  },
  sort: {
    label: 'Sort code',
    hint: '6 digits, for example 12-34-56',
    missing: 'Enter the sort code of your bank.',
    invalid: 'Enter a sort code of 6 digits.',
  },
  type: {
    label: 'Type of account',
    hint: 'Your bank can tell you',
    missing: 'Select the type of account.',
    invalid: 'Select the type of account.',
  },
}

/** The text of the pages. */
export const strings = {
  sandboxNote: 'No real money moves',
  method: 'Paid by',
  methods: {
    'SEPA-CT': 'SEPA credit transfer',
    'SEPA-INSTANT': 'SEPA instant transfer',
    'US-ACH': 'ACH transfer',
    'UK-BACS': 'Bacs transfer',
    'UK-FAST': 'Faster Payments',
  },
  arrival: {
    'SEPA-CT': 'The next business day',
    'SEPA-INSTANT': 'Within seconds',
    'US-ACH': 'The next business day',
    'UK-BACS': 'In two business days',
    'UK-FAST': 'Within seconds',
  },
  arrives: 'Arrives',
  expires: 'Accept by',
  reference: 'Reference',
  formTitle: 'Where should we send it?',
  types: { CHECKING: 'Checking', SAVINGS: 'Savings' },
  nameFixed: 'Set by the sender. It cannot be changed.',
  problems: 'Please check your details',
  declineTitle: 'I do not want this payout',
  comment: 'Comment (optional)',
  commentHint: 'The sender can read it. At most 256 characters.',
  decline: 'Decline the payout',
  progress: {
    CLAIMED: 'Payout accepted',
    PROCESSING: 'Your money is on its way',
    PAID: 'Your money has arrived',
    FAILED: 'The transfer failed',
  },
  steps: { CLAIMED: 'Accepted', PROCESSING: 'Sent to your bank', PAID: 'Paid', FAILED: 'Failed' },
  stepsTitle: 'Progress',
  done: 'done',
  payee: 'To',
  account: 'Account',
  refresh: 'Check again',
  notices: {
    EXPIRED: {
      title: 'This payout link has expired',
      text: 'It was not accepted in time. Please ask the sender for a new one.',
    },
    CANCELLED: { title: 'This payout was cancelled', text: 'The sender withdrew it. Please contact the sender.' },
    REJECTED: {
      title: 'This payout was declined',
      text: 'Please ask the sender for a new link if this was a mistake.',
    },
    declined: { title: 'You declined this payout', text: 'No money moves.' },
    commented: { title: 'You declined this payout', text: 'No money moves. The sender can see your comment.' },
    CLAIMED: {
      title: 'This payout has already been accepted',
      text: 'The transfer is being prepared. A link works once. If it was not you, please contact the sender.',
    },
    PROCESSING: {
      title: 'This payout is on its way',
      text: 'It was accepted, and the money was sent. A link works once. If it was not you, please contact the sender.',
    },
    PAID: {
      title: 'This payout has been paid',
      text: 'The money is in the account that was given. A link works once. If it was not you, please contact the sender.',
    },
    FAILED: {
      title: 'This payout failed',
      text: 'It was accepted, but the bank did not take the money. Please ask the sender for a new link.',
    },
    unknown: { title: 'This payout link does not exist', text: 'Please check that the address is complete.' },
    embedder: {
      title: 'This website cannot show the payout',
      text: 'The sender has not allowed it. Please contact the sender.',
    },
    hosted: {
      title: 'The payout has a page of its own',
      text: 'It cannot be shown inside another website. Please open the link that the sender gave you.',
    },
    outside: {
      title: 'This payout belongs to another website',
      text: 'It can be accepted only inside the page of the sender’s website. Please go back to that website.',
    },
    token: { title: 'This form is out of date', text: 'Please open the payout link again.' },
    invalid: {
      title: 'These details cannot be accepted',
      text: 'They do not fit this payout. Please open the payout link again.',
    },
    failure: { title: 'Something went wrong', text: 'Nothing was changed. Please try again later.' },
  },
}

/** Returns the text of a claimed link. `account`: a space and the last digits, or nothing. */
export const progressTexts: Readonly<
  Record<ProgressStatus, (amount: string, account: string, sender: string) => string>
> = {
  CLAIMED: (amount, account) => `The transfer of ${amount} to your account${account} is being prepared.`,
  PROCESSING: (amount, account) => `${amount} was sent to your account${account}. Your bank has not confirmed it yet.`,
  PAID: (amount, account) => `${amount} is in your account${account}. There is nothing left to do.`,
  FAILED: (amount, account, sender) =>
    `Your bank did not accept ${amount} for your account${account}. The money is back with ${sender}. ` +
    'This link cannot be used again: please ask for a new one.',
}

/** The states of a claimed link. */
export type ProgressStatus = keyof typeof strings.progress
/** The pages for a request that is refused, and for a link that is closed, or claimed by another person. */
export type NoticeName = keyof typeof strings.notices
