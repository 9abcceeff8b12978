import t from 'tap'
import {
  isBic,
  isCountryCode,
  isCreditorIdentifier,
  isIban,
  isIfsc,
  isRoutingNumber,
  isSepaIban,
  isSortCode,
} from '../../src/core/rules/identifiers.js'

// The customary example of each country (most from SWIFT's IBAN registry); each remainder was computed apart from the code
// under test.
const sepaIbans = [
  'AD1200012030200359100100',
  'AL47212110090000000235698741',
  'AT611904300234573201',
  'BE68539007547034',
  'BG80BNBG96611020345678',
  'CH9300762011623852957',
  'CY17002001280000001200527600',
  'CZ6508000000192000145399',
  'DE89370400440532013000',
  'DK5000400440116243',
  'EE382200221020145685',
  'ES9121000418450200051332',
  'FI2112345600000785',
  'FR1420041010050500013M02606',
  'GB29NWBK60161331926819',
  'GI75NWBK000000007099453',
  'GR1601101250000000012300695',
  'HR1210010051863000160',
  'HU42117730161111101800000000',
  'IE29AIBK93115212345678',
  'IS140159260076545510730339',
  'IT60X0542811101000000123456',
  'LI21088100002324013AA',
  'LT121000011101001000',
  'LU280019400644750000',
  'LV80BANK0000435195001',
  'MC5811222000010123456789030',
  'MD24AG000225100013104168',
  'ME25505000012345678951',
  'MK07250120000058984',
  'MT84MALT011000012345MTLCAST001S',
  'NL91ABNA0417164300',
  'NO9386011117947',
  'PL61109010140000071219812874',
  'PT50000201231234567890154',
  'RO49AAAA1B31007593840000',
  'RS35260005601001611379',
  'SE4550000000058398257466',
  'SI56263300012039086',
  'SK3112000000198742637541',
  'SM86U0322509800000000270100',
  'VA59001123000012345678',
]
const otherIbans = [
  'AE070331234567890123456',
  'BR1800360305000010009795493C1',
  'SA0380000000608010167519',
  'TR330006100519786457841326',
  'XK051212012345678906',
]

t.test("every country's customary example is an IBAN", async t => {
  for (const iban of [...sepaIbans, ...otherIbans]) t.equal(isIban(iban), true, iban)
})

t.test('an IBAN with one digit off or two characters swapped is none', async t => {
  for (const iban of ['DE88370400440532013000', 'DE89370400440532013001', 'DE89374000440532013000']) {
    t.equal(isIban(iban), false, iban)
  }
  for (const iban of [...sepaIbans, ...otherIbans]) {
    const last = iban.at(-1) === '1' ? '2' : '1'
    t.equal(isIban(iban.slice(0, -1) + last), false, `${iban} ending in ${last}`)
  }
})

t.test("an IBAN keeps its country's length and structure, even with check digits that fit", async t => {
  // Check digits computed apart from the code under test, over the text as it stands.
  t.equal(isIban('DE813704004405320130000'), false, 'one digit too many')
  t.equal(isIban('DE41370400440532013'), false, 'three digits too few')
  t.equal(isIban('DE85A70400440532013000'), false, 'a letter where Germany has digits')
  t.equal(isIban('GB321WBK60161331926819'), false, 'a digit where Britain has letters')
  t.equal(isIban('ES1321000418400200051332'), false, 'national check digits wrong')
})

t.test('check digits that no bank issues are refused', async t => {
  // 00, 01 and 99 are congruent to 97, 98 and 02.
  t.equal(isIban('DE97370400440532013050'), true)
  t.equal(isIban('DE00370400440532013050'), false)
  t.equal(isIban('DE98370400440532013032'), true)
  t.equal(isIban('DE01370400440532013032'), false)
  t.equal(isIban('DE02370400440532013014'), true)
  t.equal(isIban('DE99370400440532013014'), false)
})

t.test('an IBAN is in electronic format', async t => {
  for (const text of [
    '',
    'DE',
    'DE89',
    'DE89 3704 0044 0532 0130 00',
    'DE89-3704-0044-0532-0130-00',
    ' DE89370400440532013000',
    'DE89370400440532013000 ',
    'DE89370400440532013000\n',
    'de89370400440532013000',
    'De89370400440532013000',
    'fr1420041010050500013M02606',
    'FR1420041010050500013m02606',
    'IBAN DE89370400440532013000',
    'DE8937040044053201300٠',
    'DE８９370400440532013000',
    'DE8937040044053201300\ud800',
    '__proto__',
    'US64SVBKUS6S3300958879',
    'ZZ89370400440532013000',
    'D889370400440532013000',
    `DE89${'0'.repeat(100_000)}`,
  ]) {
    t.equal(isIban(text), false, JSON.stringify(text.slice(0, 40)))
    t.equal(isSepaIban(text), false, JSON.stringify(text.slice(0, 40)))
  }
})

t.test('the SEPA schemes reach 41 countries, and Gibraltar with its own code', async t => {
  t.equal(sepaIbans.length, 42)
  for (const iban of sepaIbans) t.equal(isSepaIban(iban), true, iban)
  for (const iban of otherIbans) t.equal(isSepaIban(iban), false, iban)
})

t.test('a SEPA IBAN has correct check digits', async t => {
  t.equal(isSepaIban('DE88370400440532013000'), false)
  t.equal(isSepaIban('RS35260005601001611378'), false)
})

t.test("a territory has no SEPA IBANs under its own code, it uses its state's", async t => {
  // Ibantools knows these codes; the EPC's list has Åland under FI and the overseas departments under FR.
  t.equal(isSepaIban('AX2112345600000785'), false)
  t.equal(isSepaIban('GF4120041010050500013M02606'), false)
})

// Examples in public circulation, most from the tests of jbanking; each remainder was computed apart from the code under
// test.
const creditorIdentifiers = [
  'AT61ZZZ01234567890',
  'BE68ZZZ0123456789',
  'BE69ZZZ050D000000008',
  'BG07ZZZ100064095',
  'CY54ZZZ003A',
  'CZ56ZZZ12345',
  'DE51ZZZ12345678901',
  'DE98ZZZ09999999999',
  'DK95ZZZ999912345678',
  'ES04ZZZ52840790N',
  'ES59ZZZX1234567L',
  'FR72ZZZ123456',
  'GB23ZZZSDDBARC000000ABCD1234',
  'GR44ZZZ12345',
  'HR04ZZZ01234567890',
  'HU74111A12345676',
  'IE84ZZZ123456',
  'IT66ZZZA1B2C3D4E5F6G7H8',
  'LT30ZZZ123456789',
  'LV21ZZZ40003000010',
  'MC54ZZZ123456',
  'NL42ZZZ123456780001',
  'NO38ZZZ123456785',
  'PL18ZZZ0123456789',
  'PT73ZZZ123456',
  'SE41ZZZ1234567890',
  'SI02ZZZ12345678',
  'SK19ZZZ70000000022',
]

t.test('published creditor identifiers are valid', async t => {
  for (const identifier of creditorIdentifiers) t.equal(isCreditorIdentifier(identifier), true, identifier)
})

t.test("the creditor's business code is free and no part of the check", async t => {
  t.equal(isCreditorIdentifier('DE98ABC09999999999'), true)
  t.equal(isCreditorIdentifier('DE9800109999999999'), true)
  t.equal(isCreditorIdentifier('DE98zzz09999999999'), false)
  t.equal(isCreditorIdentifier('DE98ZZ-09999999999'), false)
})

t.test('a creditor identifier with wrong check digits is refused', async t => {
  t.equal(isCreditorIdentifier('DE74ZZZ09999999999'), false)
  t.equal(isCreditorIdentifier('FR20ZZZ123456'), false)
  t.equal(isCreditorIdentifier('DE98ZZZ09999999998'), false)
  t.equal(isCreditorIdentifier('AT98ZZZ09999999999'), false, 'the country is part of the check')
})

t.test('check digits that are never issued are refused, although the remainder fits', async t => {
  t.equal(isCreditorIdentifier('DE01ZZZ09999999999'), false, '98 is right')
  t.equal(isCreditorIdentifier('SI99ZZZ12345678'), false, '02 is right')
  t.equal(isCreditorIdentifier('DE97ZZZ66'), true)
  t.equal(isCreditorIdentifier('DE00ZZZ66'), false, '97 is right')
})

t.test('the national part of a creditor identifier has 1 to 28 characters', async t => {
  t.equal(isCreditorIdentifier('DE09ZZZ1'), true)
  t.equal(isCreditorIdentifier(`DE51ZZZ${'1'.repeat(28)}`), true)
  t.equal(isCreditorIdentifier(`DE78ZZZ${'Z'.repeat(28)}`), true)
  t.equal(isCreditorIdentifier(`DE62ZZZ${'1'.repeat(29)}`), false)
  t.equal(isCreditorIdentifier('DE36ZZZ'), false)
})

t.test('a creditor identifier is upper case and without separators', async t => {
  for (const text of [
    '',
    'de98zzz09999999999',
    'De98ZZZ09999999999',
    'DE98 ZZZ 09999999999',
    'DE98ZZZ09999999999\n',
    ' DE98ZZZ09999999999',
    'DE٩٨ZZZ09999999999',
    'DE98ZZZ0999999999９',
    'DE98ZZZ0999999999\ud800',
    'FR72ZZZ123456\u0000',
    `DE98ZZZ${'9'.repeat(100_000)}`,
  ]) {
    t.equal(isCreditorIdentifier(text), false, JSON.stringify(text.slice(0, 40)))
  }
})

t.test('published routing numbers pass their check digit', async t => {
  for (const text of ['011000015', '021000021', '026009593', '111000025', '121000248', '122105155']) {
    t.equal(isRoutingNumber(text), true, text)
  }
})

t.test('a routing number is nine digits that pass the check, and not all zeros', async t => {
  for (const text of [
    '',
    '000000000',
    '011000016',
    '021000022',
    '120000021',
    '02100002',
    '0210000210',
    '02100002 1',
    '021-000021',
    '021000021\n',
    ' 021000021',
    '02100002١',
    '０２１０００021',
    '02100002\ud800',
    'abcdefghi',
    '0'.repeat(100_000),
  ]) {
    t.equal(isRoutingNumber(text), false, JSON.stringify(text.slice(0, 40)))
  }
})

t.test('an IFSC is four letters, a zero and six characters', async t => {
  for (const text of ['SBIN0000300', 'HDFC0000001', 'ICIC0000104', 'KKBK0RTGSMI']) t.equal(isIfsc(text), true, text)
  for (const text of [
    '',
    'sbin0000300',
    'SBIN1000300',
    'SBINO000300',
    'SBI00000300',
    'SBIN000030',
    'SBIN00003000',
    'SBIN0000300\n',
    ' SBIN0000300',
    'SBIN000030a',
    'SBIN000030-',
    'SBIN٠000300',
    'SBIN000030\udc00',
    `SBIN0${'0'.repeat(100_000)}`,
  ]) {
    t.equal(isIfsc(text), false, JSON.stringify(text.slice(0, 40)))
  }
})

t.test('a BIC has 8 or 11 characters and a country', async t => {
  for (const text of [
    'DEUTDEFF',
    'DEUTDEFF500',
    'COBADEFFXXX',
    'NWBKGB2L',
    'CHASUS33',
    'SBININBB104',
    'NCBVXKPR',
    '1234DEFF',
  ]) {
    t.equal(isBic(text), true, text)
  }
  for (const text of [
    '',
    'deutdeff',
    'DEUTdeFF',
    'DEUTDEF',
    'DEUTDEFF5',
    'DEUTDEFF50',
    'DEUTDEFF5000',
    'DEUTD1FF',
    'DEUTZZFF',
    'DEUTUKFF',
    'DEUTEUFF',
    'DEUT DEFF',
    'DEUTDEFF ',
    'DEUTDEFF\n',
    'DEUTDEFF500\n',
    'DEUTDEF\ud800',
    'DEUTDE３3',
    'DEUTDEFF'.repeat(10_000),
  ]) {
    t.equal(isBic(text), false, JSON.stringify(text.slice(0, 40)))
  }
})

t.test('a sort code is six digits', async t => {
  for (const text of ['601613', '000000', '200415']) t.equal(isSortCode(text), true, text)
  for (const text of [
    '',
    '60161',
    '6016133',
    '60-16-13',
    '60 16 13',
    '601613\n',
    ' 601613',
    '60161a',
    '60161٣',
    '６01613',
    '60161\ud800',
    '6'.repeat(100_000),
  ]) {
    t.equal(isSortCode(text), false, JSON.stringify(text.slice(0, 40)))
  }
})

t.test('a country code is one that ISO 3166-1 assigns', async t => {
  for (const text of ['DE', 'GB', 'US', 'IN', 'AX', 'BQ', 'CW', 'SS', 'SX', 'TL', 'ZW']) {
    t.equal(isCountryCode(text), true, text)
  }
  for (const text of [
    '',
    'D',
    'DEU',
    'de',
    'De',
    'UK',
    'EU',
    'XK',
    'AN',
    'CS',
    'SU',
    'YU',
    'ZZ',
    'QM',
    'D1',
    ' DE',
    'DE ',
    'DE\n',
    'ＤＥ',
    '\ud83c',
    'AD AE',
    'DE'.repeat(100_000),
  ]) {
    t.equal(isCountryCode(text), false, JSON.stringify(text.slice(0, 40)))
  }
})

t.test('ISO 3166-1 assigns 249 country codes', async t => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const codes = letters.flatMap(first => letters.map(second => first + second)).filter(isCountryCode)
  t.equal(codes.length, 249)
})
