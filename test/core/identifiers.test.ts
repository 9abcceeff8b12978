import t from 'tap'
import {
  bicFlaw,
  countryFlaw,
  creditorIdentifierFlaw,
  ibanFlaw,
  isIfsc,
  isRoutingNumber,
  isSortCode,
  sepaIbanFlaw,
} from '../../src/core/domain/identifiers.js'
import { assertAccepts, spoiled, words } from './texts.js'

const hasNone = (flaw: (text: string) => string | undefined) => (text: string) => flaw(text) === undefined
const [isIban, isSepaIban] = [hasNone(ibanFlaw), hasNone(sepaIbanFlaw)]
const [isBic, isCountryCode] = [hasNone(bicFlaw), hasNone(countryFlaw)]
const isCreditorIdentifier = hasNone(creditorIdentifierFlaw)

// The customary example of each country (most from SWIFT's IBAN registry); each remainder was computed apart from the code
// under test.
const sepaIbans = words(`
  AD1200012030200359100100 AL47212110090000000235698741 AT611904300234573201 BE68539007547034 BG80BNBG96611020345678
  CH9300762011623852957 CY17002001280000001200527600 CZ6508000000192000145399 DE89370400440532013000
  DK5000400440116243 EE382200221020145685 ES9121000418450200051332 FI2112345600000785 FR1420041010050500013M02606
  GB29NWBK60161331926819 GI75NWBK000000007099453 GR1601101250000000012300695 HR1210010051863000160
  HU42117730161111101800000000 IE29AIBK93115212345678 IS140159260076545510730339 IT60X0542811101000000123456
  LI21088100002324013AA LT121000011101001000 LU280019400644750000 LV80BANK0000435195001 MC5811222000010123456789030
  MD24AG000225100013104168 ME25505000012345678951 MK07250120000058984 MT84MALT011000012345MTLCAST001S
  NL91ABNA0417164300 NO9386011117947 PL61109010140000071219812874 PT50000201231234567890154 RO49AAAA1B31007593840000
  RS35260005601001611379 SE4550000000058398257466 SI56263300012039086 SK3112000000198742637541
  SM86U0322509800000000270100 VA59001123000012345678`)
const otherIbans = words(`
  AE070331234567890123456 BR1800360305000010009795493C1 SA0380000000608010167519 TR330006100519786457841326
  XK051212012345678906`)
const IBAN = 'DE89370400440532013000'

t.test('decisions §10: an IBAN has the length, the structure and the check digits of its country', async t => {
  const all = [...sepaIbans, ...otherIbans]
  assertAccepts(t, isIban, all, [
    ...words('DE88370400440532013000 DE89370400440532013001 DE89374000440532013000'),
    ...all.map(iban => iban.slice(0, -1) + (iban.at(-1) === '1' ? '2' : '1')),
    // Check digits that fit: a digit too many, three too few, a letter for a digit, a digit for a letter.
    ...words('DE813704004405320130000 DE41370400440532013 DE85A70400440532013000 GB321WBK60161331926819'),
    // National check digits, and countries without IBANs.
    ...words('ES1321000418400200051332 US64SVBKUS6S3300958879 ZZ89370400440532013000 D889370400440532013000'),
  ])
})

t.test('decisions §10: check digits that no bank issues are refused', async t => {
  // 00, 01 and 99 are congruent to 97, 98 and 02.
  assertAccepts(
    t,
    isIban,
    words('DE97370400440532013050 DE98370400440532013032 DE02370400440532013014'),
    words('DE00370400440532013050 DE01370400440532013032 DE99370400440532013014'),
  )
})

t.test('decisions §7, §10: an IBAN is in electronic format', async t => {
  const cases = words('de89370400440532013000 De89370400440532013000 fr1420041010050500013M02606')
  const others = [
    'DE',
    'DE89',
    'DE89-3704-0044-0532-0130-00',
    `IBAN ${IBAN}`,
    'FR1420041010050500013m02606',
    '__proto__',
  ]
  for (const check of [isIban, isSepaIban]) assertAccepts(t, check, [], [...cases, ...others, ...spoiled(IBAN)])
})

t.test('decisions §7: the SEPA schemes reach 41 countries, and Gibraltar with its own code', async t => {
  t.equal(sepaIbans.length, 42)
  // ibantools has codes of territories; the EPC's list has Åland under FI and the overseas departments under FR.
  const territories = ['AX2112345600000785', 'GF4120041010050500013M02606']
  const digits = ['DE88370400440532013000', 'RS35260005601001611378']
  assertAccepts(t, isSepaIban, sepaIbans, [...otherIbans, ...territories, ...digits])
})

t.test('decisions §7: a creditor identifier has check digits and a national part of 1 to 28 characters', async t => {
  // Examples in public circulation, most from the tests of jbanking; each remainder was computed apart from the code.
  const published = words(`
    AT61ZZZ01234567890 BE68ZZZ0123456789 BE69ZZZ050D000000008 BG07ZZZ100064095 CY54ZZZ003A CZ56ZZZ12345
    DE51ZZZ12345678901 DE98ZZZ09999999999 DK95ZZZ999912345678 ES04ZZZ52840790N ES59ZZZX1234567L FR72ZZZ123456
    GB23ZZZSDDBARC000000ABCD1234 GR44ZZZ12345 HR04ZZZ01234567890 HU74111A12345676 IE84ZZZ123456
    IT66ZZZA1B2C3D4E5F6G7H8 LT30ZZZ123456789 LV21ZZZ40003000010 MC54ZZZ123456 NL42ZZZ123456780001 NO38ZZZ123456785
    PL18ZZZ0123456789 PT73ZZZ123456 SE41ZZZ1234567890 SI02ZZZ12345678 SK19ZZZ70000000022`)
  assertAccepts(
    t,
    isCreditorIdentifier,
    [
      ...published,
      ...words('DE98ABC09999999999 DE9800109999999999 DE97ZZZ66 DE09ZZZ1'),
      ...[`DE51ZZZ${'1'.repeat(28)}`, `DE78ZZZ${'Z'.repeat(28)}`],
    ],
    [
      ...words('DE74ZZZ09999999999 FR20ZZZ123456 DE98ZZZ09999999998 AT98ZZZ09999999999'),
      // The remainder fits, but such check digits are never issued: 98, 02 and 97 are right.
      ...words('DE01ZZZ09999999999 SI99ZZZ12345678 DE00ZZZ66'),
      ...words('de98zzz09999999999 De98ZZZ09999999999 DE98zzz09999999999 DE98ZZ-09999999999'),
      ...[`DE62ZZZ${'1'.repeat(29)}`, 'DE36ZZZ', 'FR72ZZZ123456\u0000', ...spoiled('DE98ZZZ09999999999')],
    ],
  )
})

t.test('decisions §10: a routing number is nine digits that pass the check, and not all zeros', async t => {
  assertAccepts(t, isRoutingNumber, words('011000015 021000021 026009593 111000025 121000248 122105155'), [
    ...words('000000000 011000016 021000022 120000021 02100002 0210000210 021-000021 abcdefghi'),
    ...spoiled('021000021'),
  ])
})

t.test('decisions §10: an IFSC is four letters, a zero and six characters', async t => {
  assertAccepts(t, isIfsc, words('SBIN0000300 HDFC0000001 ICIC0000104 KKBK0RTGSMI'), [
    ...words('sbin0000300 SBIN1000300 SBINO000300 SBI00000300 SBIN000030 SBIN00003000 SBIN000030a SBIN000030-'),
    ...spoiled('SBIN0000300'),
  ])
})

t.test('decisions §10: a BIC has 8 or 11 characters and a country', async t => {
  const right = words('DEUTDEFF DEUTDEFF500 COBADEFFXXX NWBKGB2L CHASUS33 SBININBB104 NCBVXKPR 1234DEFF')
  assertAccepts(t, isBic, right, [
    ...words('deutdeff DEUTdeFF DEUTDEF DEUTDEFF5 DEUTDEFF50 DEUTDEFF5000 DEUTD1FF DEUTZZFF DEUTUKFF DEUTEUFF'),
    ...spoiled('DEUTDEFF'),
    ...spoiled('DEUTDEFF500'),
  ])
})

t.test('interface, Other named fields: a sort code is six digits', async t => {
  const wrong = words('60161 6016133 60-16-13 60161a')
  assertAccepts(t, isSortCode, words('601613 000000 200415'), [...wrong, ...spoiled('601613')])
})

t.test('decisions §10: a country code is one of the 249 that ISO 3166-1 assigns', async t => {
  const others = words('D DEU de De UK EU XK AN CS SU YU ZZ QM D1 ＤＥ \ud83c')
  assertAccepts(t, isCountryCode, words('DE GB US IN AX BQ CW SS SX TL ZW'), [...others, 'AD AE', ...spoiled('DE')])
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  t.equal(letters.flatMap(first => letters.map(second => first + second)).filter(isCountryCode).length, 249)
})
