/** The languages of the pages; the first is that of a browser that prefers none of them. */
export const LANGUAGES = ['en', 'de', 'fr'] as const
export type Language = (typeof LANGUAGES)[number]

/** The names of the languages, each in its own. */
export const languageNames: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch', fr: 'Français' }

/** The values in the text of a claimed link. */
export interface Claimed {
  readonly amount: string
  /** A space and the last digits of the account, or nothing. */
  readonly account: string
  /** The name of the sender; undefined: it is not known. */
  readonly sender: string | undefined
}

/** All text of the pages in English. */
const en = {
  sandbox: 'Sandbox',
  sandboxNote: 'No real money moves',
  languages: 'Language',
  title: (sender: string | undefined) => (sender === undefined ? 'A payout for you' : `${sender} pays you`),
  details: 'Details',
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
    type: { label: 'Type of account', missing: 'Select the type of account.', invalid: 'Select the type of account.' },
  },
  types: { CHECKING: 'Checking', SAVINGS: 'Savings' },
  nameFixed: 'Set by the sender. It cannot be changed.',
  accept: (amount: string) => `Accept ${amount}`,
  problems: 'Please check your details',
  declineTitle: 'I do not want this payout',
  comment: 'Comment (optional)',
  commentHint: 'The sender can read it. At most 256 characters.',
  decline: 'Decline the payout',
  progress: {
    CLAIMED: {
      title: 'Payout accepted',
      text: ({ amount, account }: Claimed) => `The transfer of ${amount} to your account${account} is being prepared.`,
    },
    PROCESSING: {
      title: 'Your money is on its way',
      text: ({ amount, account }: Claimed) =>
        `${amount} was sent to your account${account}. Your bank has not confirmed it yet.`,
    },
    PAID: {
      title: 'Your money has arrived',
      text: ({ amount, account }: Claimed) => `${amount} is in your account${account}. There is nothing left to do.`,
    },
    FAILED: {
      title: 'The transfer failed',
      text: ({ amount, account, sender = 'the sender' }: Claimed) =>
        `Your bank did not accept ${amount} for your account${account}. The money is back with ${sender}. ` +
        'This link cannot be used again: please ask for a new one.',
    },
  },
  steps: { CLAIMED: 'Accepted', PROCESSING: 'Sent to your bank', PAID: 'Paid', FAILED: 'Failed' },
  stepsTitle: 'Progress',
  done: 'done',
  expected: (instant: string) => `Expected ${instant}`,
  payee: 'To',
  account: 'Account',
  refresh: 'Check again',
  offline: 'The server cannot be reached. Please try again.',
  zones: { 'Europe/Berlin': 'Berlin time', 'Europe/London': 'London time', 'America/New_York': 'New York time' },
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
    limit: { title: 'Too many attempts', text: 'Please wait a minute, then open the payout link again.' },
    invalid: {
      title: 'These details cannot be accepted',
      text: 'They do not fit this payout. Please open the payout link again.',
    },
    failure: { title: 'Something went wrong', text: 'Nothing was changed. Please try again later.' },
  },
}

/** All text of the pages in one language. */
export type Strings = typeof en
/** The states of a claimed link. */
export type ProgressStatus = keyof Strings['progress']
/** The pages for a request that is refused, and for a link that is closed, or claimed by another person. */
export type NoticeName = keyof Strings['notices']

const de: Strings = {
  sandbox: 'Sandbox',
  sandboxNote: 'Es fließt kein echtes Geld',
  languages: 'Sprache',
  title: sender => (sender === undefined ? 'Eine Auszahlung für Sie' : `${sender} zahlt Ihnen`),
  details: 'Einzelheiten',
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
      invalid: 'Geben Sie eine gültige IBAN eines SEPA-Landes ein. Prüfen Sie sie auf Tippfehler.',
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
    CLAIMED: {
      title: 'Auszahlung angenommen',
      text: ({ amount, account }) => `Die Überweisung von ${amount} auf Ihr Konto${account} wird vorbereitet.`,
    },
    PROCESSING: {
      title: 'Ihr Geld ist unterwegs',
      text: ({ amount, account }) =>
        `${amount} wurden an Ihr Konto${account} gesendet. Ihre Bank hat den Eingang noch nicht bestätigt.`,
    },
    PAID: {
      title: 'Ihr Geld ist angekommen',
      text: ({ amount, account }) => `${amount} sind auf Ihrem Konto${account}. Sie müssen nichts mehr tun.`,
    },
    FAILED: {
      title: 'Die Überweisung ist fehlgeschlagen',
      text: ({ amount, account, sender = 'dem Absender' }) =>
        `Ihre Bank hat ${amount} für Ihr Konto${account} nicht angenommen. Das Geld ist zurück bei ${sender}. ` +
        'Dieser Link gilt nicht mehr: Bitte fragen Sie nach einem neuen.',
    },
  },
  steps: { CLAIMED: 'Angenommen', PROCESSING: 'An Ihre Bank gesendet', PAID: 'Ausgezahlt', FAILED: 'Fehlgeschlagen' },
  stepsTitle: 'Fortschritt',
  done: 'erledigt',
  expected: instant => `Voraussichtlich am ${instant}`,
  payee: 'An',
  account: 'Konto',
  refresh: 'Erneut prüfen',
  offline: 'Der Server ist nicht erreichbar. Bitte versuchen Sie es erneut.',
  zones: {
    'Europe/Berlin': 'Berliner Zeit',
    'Europe/London': 'Londoner Zeit',
    'America/New_York': 'New Yorker Zeit',
  },
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
    declined: { title: 'Sie haben diese Auszahlung abgelehnt', text: 'Es fließt kein Geld.' },
    commented: {
      title: 'Sie haben diese Auszahlung abgelehnt',
      text: 'Es fließt kein Geld. Der Absender kann Ihren Kommentar sehen.',
    },
    CLAIMED: {
      title: 'Diese Auszahlung wurde bereits angenommen',
      text: 'Die Überweisung wird vorbereitet. Ein Link gilt nur einmal. Falls Sie das nicht waren, wenden Sie sich an den Absender.',
    },
    PROCESSING: {
      title: 'Diese Auszahlung ist unterwegs',
      text: 'Sie wurde angenommen, und das Geld wurde gesendet. Ein Link gilt nur einmal. Falls Sie das nicht waren, wenden Sie sich an den Absender.',
    },
    PAID: {
      title: 'Diese Auszahlung ist angekommen',
      text: 'Das Geld ist auf dem Konto, das angegeben wurde. Ein Link gilt nur einmal. Falls Sie das nicht waren, wenden Sie sich an den Absender.',
    },
    FAILED: {
      title: 'Diese Auszahlung ist fehlgeschlagen',
      text: 'Sie wurde angenommen, aber die Bank hat die Zahlung abgelehnt. Bitte fragen Sie den Absender nach einem neuen Link.',
    },
    unknown: {
      title: 'Diesen Auszahlungslink gibt es nicht',
      text: 'Bitte prüfen Sie, ob die Adresse vollständig ist.',
    },
    embedder: {
      title: 'Diese Website kann die Auszahlung nicht zeigen',
      text: 'Der Absender hat es nicht erlaubt. Bitte wenden Sie sich an den Absender.',
    },
    hosted: {
      title: 'Die Auszahlung hat eine eigene Seite',
      text: 'Sie kann nicht innerhalb einer anderen Website gezeigt werden. Bitte öffnen Sie den Link, den Sie vom Absender haben.',
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
  languages: 'Langue',
  title: sender => (sender === undefined ? 'Un versement pour vous' : `${sender} vous verse`),
  details: 'Détails',
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
      invalid: 'Saisissez un IBAN valide d’un pays SEPA. Vérifiez la saisie.',
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
    CLAIMED: {
      title: 'Versement accepté',
      text: ({ amount, account }) => `Le virement de ${amount} vers votre compte${account} est en préparation.`,
    },
    PROCESSING: {
      title: 'Votre argent est en route',
      text: ({ amount, account }) =>
        `${amount} ont été envoyés vers votre compte${account}. Votre banque ne l’a pas encore confirmé.`,
    },
    PAID: {
      title: 'Votre argent est arrivé',
      text: ({ amount, account }) => `${amount} sont sur votre compte${account}. Vous n’avez plus rien à faire.`,
    },
    FAILED: {
      title: 'Le virement a échoué',
      text: ({ amount, account, sender = 'l’expéditeur' }) =>
        `Votre banque n’a pas accepté ${amount} pour votre compte${account}. L’argent est revenu chez ${sender}. ` +
        'Ce lien ne peut plus servir : demandez-en un nouveau.',
    },
  },
  steps: { CLAIMED: 'Accepté', PROCESSING: 'Envoyé à votre banque', PAID: 'Versé', FAILED: 'Échoué' },
  stepsTitle: 'Avancement',
  done: 'terminé',
  expected: instant => `Prévu le ${instant}`,
  payee: 'À',
  account: 'Compte',
  refresh: 'Vérifier à nouveau',
  offline: 'Le serveur est injoignable. Veuillez réessayer.',
  zones: {
    'Europe/Berlin': 'heure de Berlin',
    'Europe/London': 'heure de Londres',
    'America/New_York': 'heure de New York',
  },
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
    declined: { title: 'Vous avez refusé ce versement', text: 'Aucun argent ne circule.' },
    commented: {
      title: 'Vous avez refusé ce versement',
      text: 'Aucun argent ne circule. L’expéditeur peut voir votre commentaire.',
    },
    CLAIMED: {
      title: 'Ce versement a déjà été accepté',
      text: 'Le virement est en préparation. Un lien ne sert qu’une fois. Si ce n’était pas vous, contactez l’expéditeur.',
    },
    PROCESSING: {
      title: 'Ce versement est en route',
      text: 'Il a été accepté et l’argent a été envoyé. Un lien ne sert qu’une fois. Si ce n’était pas vous, contactez l’expéditeur.',
    },
    PAID: {
      title: 'Ce versement est arrivé',
      text: 'L’argent est sur le compte indiqué. Un lien ne sert qu’une fois. Si ce n’était pas vous, contactez l’expéditeur.',
    },
    FAILED: {
      title: 'Ce versement a échoué',
      text: 'Il a été accepté, mais la banque a refusé l’argent. Demandez un nouveau lien à l’expéditeur.',
    },
    unknown: { title: 'Ce lien de versement n’existe pas', text: 'Vérifiez que l’adresse est complète.' },
    embedder: {
      title: 'Ce site ne peut pas montrer le versement',
      text: 'L’expéditeur ne l’a pas autorisé. Veuillez contacter l’expéditeur.',
    },
    hosted: {
      title: 'Le versement a sa propre page',
      text: 'Il ne peut pas être montré dans un autre site. Ouvrez le lien reçu de l’expéditeur.',
    },
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
