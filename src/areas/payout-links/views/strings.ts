import type { ACCOUNT_TYPES, FieldKind, PayoutMethod } from '../claim-rules.js'

/** The languages of the pages; the first is that of a browser that prefers none of them. */
export const LANGUAGES = ['en', 'de', 'fr'] as const
export type Language = (typeof LANGUAGES)[number]

interface FieldStrings {
  readonly label: string
  readonly hint?: string
  readonly missing: string
  readonly invalid: string
}

interface Notice {
  readonly title: string
  readonly text: string
}

/** The pages for a request that is refused, and for a link that is closed. */
export type NoticeName =
  | 'EXPIRED'
  | 'CANCELLED'
  | 'REJECTED'
  | 'declined'
  | 'claimed'
  | 'unknown'
  | 'outside'
  | 'token'
  | 'limit'
  | 'invalid'
  | 'failure'

/** All text of the pages in one language. */
export interface Strings {
  readonly sandbox: string
  readonly sandboxNote: string
  readonly claimTitle: (payer: string) => string
  readonly from: string
  readonly method: string
  readonly methods: Readonly<Record<PayoutMethod, string>>
  readonly arrival: Readonly<Record<PayoutMethod, string>>
  readonly arrives: string
  readonly expires: string
  readonly message: string
  readonly reference: string
  readonly formTitle: string
  readonly fields: Readonly<Record<FieldKind, FieldStrings>>
  readonly types: Readonly<Record<(typeof ACCOUNT_TYPES)[number], string>>
  readonly nameFixed: string
  readonly accept: (amount: string) => string
  readonly problems: string
  readonly declineTitle: string
  readonly comment: string
  readonly commentHint: string
  readonly decline: string
  readonly progress: Readonly<Record<'CLAIMED' | 'PROCESSING' | 'PAID' | 'FAILED', Notice>>
  readonly steps: Readonly<Record<'CLAIMED' | 'PROCESSING' | 'PAID' | 'FAILED', string>>
  readonly stepsTitle: string
  readonly done: string
  readonly expected: string
  readonly paid: string
  readonly payee: string
  readonly account: string
  readonly refresh: string
  readonly offline: string
  readonly notices: Readonly<Record<NoticeName, Notice>>
}

const en: Strings = {
  sandbox: 'Sandbox',
  sandboxNote: 'No real money moves',
  claimTitle: payer => `${payer} pays you`,
  from: 'From',
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
  message: 'Message',
  reference: 'Reference',
  formTitle: 'Where should we send it?',
  fields: {
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
      invalid: 'This IBAN is not valid. Check for a mistyped character.',
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
    type: { label: 'Type of account', missing: 'Select the type of account.', invalid: 'Select the type of account.' },
  },
  types: { CHECKING: 'Checking', SAVINGS: 'Savings' },
  nameFixed: 'Set by the sender. It cannot be changed.',
  accept: amount => `Accept ${amount}`,
  problems: 'Please check your details',
  declineTitle: 'I do not want this payout',
  comment: 'Comment (optional)',
  commentHint: 'The sender can read it. At most 256 characters.',
  decline: 'Decline the payout',
  progress: {
    CLAIMED: { title: 'Payout accepted', text: 'We are preparing the transfer to your account.' },
    PROCESSING: { title: 'Your money is on its way', text: 'The transfer is with the banks.' },
    PAID: { title: 'Paid', text: 'The money has arrived in your account.' },
    FAILED: { title: 'The transfer failed', text: 'Your bank did not take the money. Please contact the sender.' },
  },
  steps: { CLAIMED: 'Accepted', PROCESSING: 'Sent to your bank', PAID: 'Paid', FAILED: 'Failed' },
  stepsTitle: 'Progress',
  done: 'done',
  expected: 'Expected',
  paid: 'Paid on',
  payee: 'To',
  account: 'Account',
  refresh: 'Check again',
  offline: 'The server cannot be reached. Please try again.',
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
    declined: { title: 'You declined this payout', text: 'No money moves. The sender can see your comment.' },
    claimed: {
      title: 'This payout has already been accepted',
      text: 'A link works once. If it was not you, please contact the sender.',
    },
    unknown: { title: 'This payout link does not exist', text: 'Please check that the address is complete.' },
    outside: {
      title: 'This payout belongs to another website',
      text: 'It can be accepted only inside the page of the sender’s website. Please go back to that website.',
    },
    token: { title: 'This form is out of date', text: 'Please open the payout link again.' },
    limit: { title: 'Too many attempts', text: 'Please wait a minute, then open the payout link again.' },
    invalid: {
      title: 'These details cannot be accepted',
      text: 'They do not fit this payout. Please open the payout link again.',
    },
    failure: { title: 'Something went wrong', text: 'Nothing was changed. Please try again later.' },
  },
}

const de: Strings = {
  sandbox: 'Sandbox',
  sandboxNote: 'Es fließt kein echtes Geld',
  claimTitle: payer => `${payer} zahlt Ihnen`,
  from: 'Von',
  method: 'Zahlungsart',
  methods: {
    'SEPA-CT': 'SEPA-Überweisung',
    'SEPA-INSTANT': 'SEPA-Echtzeitüberweisung',
    'US-ACH': 'ACH-Überweisung',
    'UK-BACS': 'Bacs-Überweisung',
    'UK-FAST': 'Faster Payments',
  },
  arrival: {
    'SEPA-CT': 'Am nächsten Bankarbeitstag',
    'SEPA-INSTANT': 'In wenigen Sekunden',
    'US-ACH': 'Am nächsten Bankarbeitstag',
    'UK-BACS': 'In zwei Bankarbeitstagen',
    'UK-FAST': 'In wenigen Sekunden',
  },
  arrives: 'Gutschrift',
  expires: 'Annehmen bis',
  message: 'Nachricht',
  reference: 'Referenz',
  formTitle: 'Wohin soll das Geld?',
  fields: {
    name: {
      label: 'Kontoinhaber',
      hint: 'Der volle Name auf dem Bankkonto',
      missing: 'Geben Sie den Namen des Kontoinhabers ein.',
      invalid: 'Geben Sie einen Namen mit höchstens 140 Zeichen ein.',
    },
    iban: {
      label: 'IBAN',
      hint: 'Zum Beispiel DE89 3704 0044 0532 0130 00',
      missing: 'Geben Sie Ihre IBAN ein.',
      invalid: 'Diese IBAN ist ungültig. Prüfen Sie sie auf Tippfehler.',
    },
    usAccount: {
      label: 'Kontonummer',
      hint: '4 bis 17 Ziffern',
      missing: 'Geben Sie Ihre Kontonummer ein.',
      invalid: 'Geben Sie eine Kontonummer mit 4 bis 17 Ziffern ein.',
    },
    ukAccount: {
      label: 'Kontonummer',
      hint: '8 Ziffern',
      missing: 'Geben Sie Ihre Kontonummer ein.',
      invalid: 'Geben Sie eine Kontonummer mit 8 Ziffern ein.',
    },
    routing: {
      label: 'Routing Number',
      hint: '9 Ziffern',
      missing: 'Geben Sie die Routing Number Ihrer Bank ein.',
      invalid: 'Diese Routing Number ist ungültig. Prüfen Sie sie auf Tippfehler.',
    },
    sort: {
      label: 'Sort Code',
      hint: '6 Ziffern, zum Beispiel 12-34-56',
      missing: 'Geben Sie den Sort Code Ihrer Bank ein.',
      invalid: 'Geben Sie einen Sort Code mit 6 Ziffern ein.',
    },
    type: {
      label: 'Art des Kontos',
      missing: 'Wählen Sie die Art des Kontos.',
      invalid: 'Wählen Sie die Art des Kontos.',
    },
  },
  types: { CHECKING: 'Girokonto (Checking)', SAVINGS: 'Sparkonto (Savings)' },
  nameFixed: 'Vom Absender festgelegt, nicht änderbar.',
  accept: amount => `${amount} annehmen`,
  problems: 'Bitte prüfen Sie Ihre Angaben',
  declineTitle: 'Ich möchte diese Auszahlung nicht',
  comment: 'Kommentar (optional)',
  commentHint: 'Der Absender kann ihn lesen. Höchstens 256 Zeichen.',
  decline: 'Auszahlung ablehnen',
  progress: {
    CLAIMED: { title: 'Auszahlung angenommen', text: 'Wir bereiten die Überweisung auf Ihr Konto vor.' },
    PROCESSING: { title: 'Ihr Geld ist unterwegs', text: 'Die Überweisung liegt bei den Banken.' },
    PAID: { title: 'Ausgezahlt', text: 'Das Geld ist auf Ihrem Konto eingegangen.' },
    FAILED: {
      title: 'Die Überweisung ist fehlgeschlagen',
      text: 'Ihre Bank hat das Geld nicht angenommen. Bitte wenden Sie sich an den Absender.',
    },
  },
  steps: { CLAIMED: 'Angenommen', PROCESSING: 'An Ihre Bank gesendet', PAID: 'Ausgezahlt', FAILED: 'Fehlgeschlagen' },
  stepsTitle: 'Fortschritt',
  done: 'erledigt',
  expected: 'Voraussichtlich',
  paid: 'Ausgezahlt am',
  payee: 'An',
  account: 'Konto',
  refresh: 'Erneut prüfen',
  offline: 'Der Server ist nicht erreichbar. Bitte versuchen Sie es erneut.',
  notices: {
    EXPIRED: {
      title: 'Dieser Auszahlungslink ist abgelaufen',
      text: 'Er wurde nicht rechtzeitig angenommen. Bitte fragen Sie den Absender nach einem neuen.',
    },
    CANCELLED: {
      title: 'Diese Auszahlung wurde storniert',
      text: 'Der Absender hat sie zurückgezogen. Bitte wenden Sie sich an den Absender.',
    },
    REJECTED: {
      title: 'Diese Auszahlung wurde abgelehnt',
      text: 'Falls das ein Versehen war, fragen Sie den Absender nach einem neuen Link.',
    },
    declined: {
      title: 'Sie haben diese Auszahlung abgelehnt',
      text: 'Es fließt kein Geld. Der Absender kann Ihren Kommentar sehen.',
    },
    claimed: {
      title: 'Diese Auszahlung wurde bereits angenommen',
      text: 'Ein Link gilt nur einmal. Falls Sie das nicht waren, wenden Sie sich an den Absender.',
    },
    unknown: {
      title: 'Diesen Auszahlungslink gibt es nicht',
      text: 'Bitte prüfen Sie, ob die Adresse vollständig ist.',
    },
    outside: {
      title: 'Diese Auszahlung gehört zu einer anderen Website',
      text: 'Sie kann nur innerhalb der Website des Absenders angenommen werden. Bitte gehen Sie dorthin zurück.',
    },
    token: { title: 'Dieses Formular ist veraltet', text: 'Bitte öffnen Sie den Auszahlungslink erneut.' },
    limit: {
      title: 'Zu viele Versuche',
      text: 'Bitte warten Sie eine Minute und öffnen Sie den Auszahlungslink dann erneut.',
    },
    invalid: {
      title: 'Diese Angaben können nicht angenommen werden',
      text: 'Sie passen nicht zu dieser Auszahlung. Bitte öffnen Sie den Auszahlungslink erneut.',
    },
    failure: {
      title: 'Etwas ist schiefgegangen',
      text: 'Es wurde nichts geändert. Bitte versuchen Sie es später erneut.',
    },
  },
}

const fr: Strings = {
  sandbox: 'Sandbox',
  sandboxNote: 'Aucun argent réel ne circule',
  claimTitle: payer => `${payer} vous verse`,
  from: 'De',
  method: 'Moyen de paiement',
  methods: {
    'SEPA-CT': 'Virement SEPA',
    'SEPA-INSTANT': 'Virement SEPA instantané',
    'US-ACH': 'Virement ACH',
    'UK-BACS': 'Virement Bacs',
    'UK-FAST': 'Faster Payments',
  },
  arrival: {
    'SEPA-CT': 'Le prochain jour ouvré',
    'SEPA-INSTANT': 'En quelques secondes',
    'US-ACH': 'Le prochain jour ouvré',
    'UK-BACS': 'Sous deux jours ouvrés',
    'UK-FAST': 'En quelques secondes',
  },
  arrives: 'Arrivée',
  expires: 'À accepter avant le',
  message: 'Message',
  reference: 'Référence',
  formTitle: 'Où envoyer l’argent ?',
  fields: {
    name: {
      label: 'Titulaire du compte',
      hint: 'Le nom complet du titulaire',
      missing: 'Saisissez le nom du titulaire du compte.',
      invalid: 'Saisissez un nom de 140 caractères au plus.',
    },
    iban: {
      label: 'IBAN',
      hint: 'Par exemple FR76 3000 6000 0112 3456 7890 189',
      missing: 'Saisissez votre IBAN.',
      invalid: 'Cet IBAN n’est pas valide. Vérifiez la saisie.',
    },
    usAccount: {
      label: 'Numéro de compte',
      hint: 'De 4 à 17 chiffres',
      missing: 'Saisissez votre numéro de compte.',
      invalid: 'Saisissez un numéro de compte de 4 à 17 chiffres.',
    },
    ukAccount: {
      label: 'Numéro de compte',
      hint: '8 chiffres',
      missing: 'Saisissez votre numéro de compte.',
      invalid: 'Saisissez un numéro de compte de 8 chiffres.',
    },
    routing: {
      label: 'Routing number',
      hint: '9 chiffres',
      missing: 'Saisissez le routing number de votre banque.',
      invalid: 'Ce routing number n’est pas valide. Vérifiez la saisie.',
    },
    sort: {
      label: 'Sort code',
      hint: '6 chiffres, par exemple 12-34-56',
      missing: 'Saisissez le sort code de votre banque.',
      invalid: 'Saisissez un sort code de 6 chiffres.',
    },
    type: {
      label: 'Type de compte',
      missing: 'Choisissez le type de compte.',
      invalid: 'Choisissez le type de compte.',
    },
  },
  types: { CHECKING: 'Compte courant (Checking)', SAVINGS: 'Compte d’épargne (Savings)' },
  nameFixed: 'Indiqué par l’expéditeur, non modifiable.',
  accept: amount => `Accepter ${amount}`,
  problems: 'Veuillez vérifier votre saisie',
  declineTitle: 'Je ne veux pas de ce versement',
  comment: 'Commentaire (facultatif)',
  commentHint: 'L’expéditeur peut le lire. 256 caractères au plus.',
  decline: 'Refuser le versement',
  progress: {
    CLAIMED: { title: 'Versement accepté', text: 'Nous préparons le virement vers votre compte.' },
    PROCESSING: { title: 'Votre argent est en route', text: 'Les banques traitent le virement.' },
    PAID: { title: 'Versé', text: 'L’argent est arrivé sur votre compte.' },
    FAILED: {
      title: 'Le virement a échoué',
      text: 'Votre banque n’a pas accepté l’argent. Veuillez contacter l’expéditeur.',
    },
  },
  steps: { CLAIMED: 'Accepté', PROCESSING: 'Envoyé à votre banque', PAID: 'Versé', FAILED: 'Échoué' },
  stepsTitle: 'Avancement',
  done: 'terminé',
  expected: 'Prévu',
  paid: 'Versé le',
  payee: 'À',
  account: 'Compte',
  refresh: 'Vérifier à nouveau',
  offline: 'Le serveur est injoignable. Veuillez réessayer.',
  notices: {
    EXPIRED: {
      title: 'Ce lien de versement a expiré',
      text: 'Il n’a pas été accepté à temps. Demandez un nouveau lien à l’expéditeur.',
    },
    CANCELLED: {
      title: 'Ce versement a été annulé',
      text: 'L’expéditeur l’a retiré. Veuillez contacter l’expéditeur.',
    },
    REJECTED: {
      title: 'Ce versement a été refusé',
      text: 'S’il s’agit d’une erreur, demandez un nouveau lien à l’expéditeur.',
    },
    declined: {
      title: 'Vous avez refusé ce versement',
      text: 'Aucun argent ne circule. L’expéditeur peut voir votre commentaire.',
    },
    claimed: {
      title: 'Ce versement a déjà été accepté',
      text: 'Un lien ne sert qu’une fois. Si ce n’était pas vous, contactez l’expéditeur.',
    },
    unknown: { title: 'Ce lien de versement n’existe pas', text: 'Vérifiez que l’adresse est complète.' },
    outside: {
      title: 'Ce versement appartient à un autre site',
      text: 'Il ne peut être accepté que dans la page du site de l’expéditeur. Veuillez retourner sur ce site.',
    },
    token: { title: 'Ce formulaire n’est plus à jour', text: 'Veuillez rouvrir le lien de versement.' },
    limit: { title: 'Trop de tentatives', text: 'Veuillez patienter une minute, puis rouvrir le lien de versement.' },
    invalid: {
      title: 'Ces informations ne peuvent pas être acceptées',
      text: 'Elles ne correspondent pas à ce versement. Veuillez rouvrir le lien de versement.',
    },
    failure: { title: 'Une erreur est survenue', text: 'Rien n’a été modifié. Veuillez réessayer plus tard.' },
  },
}

export const strings: Readonly<Record<Language, Strings>> = { en, de, fr }
