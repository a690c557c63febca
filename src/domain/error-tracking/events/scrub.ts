/** Removes secrets, by their names and by their shapes. */
import { REMOVED } from './shape.ts';

/** Names of secrets, in letters and digits alone. */
const SECRET_NAME =
  /passw|passphrase|passcode|pwd|secret|token|(?:api|access|account|private|signing|encryption|master|auth|ssh)key|authoriz|authentic|authheader|signature|credential|cookie|csrf|xsrf|sess(?:ion|id)|jwt|bearer|creditcard|card(?:n|cvc|cvv)|ccnum|cvv|socialsecurity|securityanswer|(?:mfa|2fa|verification|recovery|backup|security|onetime)codes?$|^(?:db|user|my|root)?pass$|^x?auth$|^(?:connect)?sid$|^(?:pin|t?otp(?:code)?|ssn|cvc|sig)$/;

/** Short names of secrets, which other words contain: only as the last word of a name. */
const SECRET_ENDING =
  /(?:[^a-z](?:pass|auth|sid|pin|t?otp|ssn|cvc|sig)|[a-z](?:Pass|Auth|Sid|Pin|Otp|Ssn|Cvc))$/;
const SECRET_LOUD_ENDING = /[^A-Z](?:PASS|AUTH|SID|PIN|T?OTP|SSN|CVC|SIG)$/;

/** Names of network addresses. */
const ADDRESS_NAME =
  /^(?:http)?x?(?:ip|ipv[46]|(?:remote|client|user|source|peer|real|visitor|clusterclient|trueclient|cfconnecting|fastlyclient|appengineuser|azureclient)ip|(?:client|remote|user|source)?ip(?:addr|address)|(?:remote|client|source|peer)(?:addr|address|host)|(?:original)?forwardedfor|forwarded|azuresocketip|envoyexternaladdress)$|(?:client|connecting|pseudo|signin|login|request)ip(?:v[46]|addr|address)?$/;

type Verdict = 'secret' | 'address' | 'free';

const verdicts = new Map<string, Verdict>();
const MAX_VERDICTS = 5_000;
const MAX_NAME_LENGTH = 100;

function judge(name: string): Verdict {
  // Python writes bytes and text with a prefix and quotes.
  const short = name.slice(0, MAX_NAME_LENGTH).replace(/^[bu]?(["'])(.*)\1$/s, '$2');
  const bare = short.toLowerCase().replace(/[^a-z0-9]/g, '');
  if (SECRET_NAME.test(bare) || SECRET_ENDING.test(short) || SECRET_LOUD_ENDING.test(short)) return 'secret';
  return ADDRESS_NAME.test(bare) ? 'address' : 'free';
}

/** The verdict on a name, cached because the same few names recur. */
export function verdictOf(name: string): Verdict {
  const known = verdicts.get(name);
  if (known) return known;
  const verdict = judge(name);
  if (name.length > MAX_NAME_LENGTH) return verdict;
  if (verdicts.size >= MAX_VERDICTS) verdicts.clear();
  verdicts.set(name, verdict);
  return verdict;
}

/** A text without one of these has no named secret. */
const HINT =
  /pass|pwd|secret|token|key|curl|auth|credential|cookie|csrf|xsrf|sess|jwt|bearer|card|cvv|cvc|ccnum|sid|pin|otp|ssn|social|sig|(?:mfa|2fa|verification|recovery|backup|security|one.?time).?code|security.?answer/i;

const PRIVATE_KEY = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*/gs;
/** A line of a private key, where each line comes alone. */
const KEY_LINE = /^\s*["'`]?[\w+/]{64}(?:\\n)?["'`]?[\s+,;.\\]*$/;
/** `scheme://name:password@`: all before the last @ of the authority. */
const CREDENTIALS = /(:\/\/)[^\s/?#"'<>]+@/g;
/** The same with signs in the password that end an authority; digits after the colon are a port. */
const ODD_CREDENTIALS =
  /(:\/\/)[^\s/?#"'<>:@[]*:(?!\d{1,5}(?:[/?#]|$))[^\s"'<>@]{1,200}@(?=[\w.-]+(?:[:/?\s"']|$))/g;
/** `name:password@tcp(host)`. */
const DRIVER_CREDENTIALS = /(?<![\w.-])[\w.-]{1,100}:[^\s@]{1,200}@(?=(?:tcp|unix)\()/g;
/** Credentials after the name of an HTTP scheme, unless they are a plain word. */
const AUTHORIZATION = /(?<![\w-])(bearer|basic|negotiate|digest)( +)(?=[\w.~+/:-]*[0-9=])[\w.~+/=:-]{8,}/gi;
/** Tokens with known prefixes, and JSON web tokens. */
const TOKEN =
  /(?<![\w-])(?:A[KS]IA[0-9A-Z]{16}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|gh[pousr]_\w{30,}|github_pat_\w{22,}|gl(?:pat|oas|dt|rtr?|cbt|ptt|ft|imt|agent|soat|ffct|wt)-[\w-]{16,}|xox[abprs]-[\w-]{10,}|xapp-[\w-]{10,}|[rs]k_(?:live|test)_\w{10,}|whsec_[\w+/=]{16,}|sk-(?=[\w-]{0,64}\d)[\w-]{20,}|SG\.[\w-]{16,}\.[\w-]{16,}|(?:npm|hf|dop_v1|dckr_pat|shp[aptc]{2})_[0-9a-zA-Z-]{20,}|pypi-[\w-]{20,}|hv[sb]\.[\w-]{20,}|eyJ[\w-]{8,}(?:\.[\w-]*){2,4})/g;
/** Webhook addresses, which are secrets themselves. */
const HOOK = /((?:hooks\.slack\.com\/services|discord(?:app)?\.com\/api\/webhooks)\/)[\w/-]+/g;

/** A name of one word or two, which the lookbehind takes as a whole. */
const NAME = String.raw`(?<![\w.$@[\]-])([\w.$@[\]-]+(?: [\w-]+)?)`;
/** The end of a name in brackets or quotes, which may be escaped several times. */
const CLOSING = String.raw`((?:\\{0,7}["'${'`'}]|%22|%27)?(?:\]|%5D)?)\s{0,20}`;
const SIGN = String.raw`=>|:=|%3D|%3A|=(?![=~])|:(?!:)|(?<=["'${'`'}]\s{0,5}),(?=\s{0,5}[bru]{0,2}\\{0,7}["'${'`'}])`;
const ANNOTATED = String.raw`:\s{0,3}[\w.<>|?]{1,40}\s{0,3}=(?![=>])`;
/** `name=`, `"name": `, `name => ` and the like, in texts; in programs also `name: type = `. */
const NAMED = new RegExp(`${NAME}${CLOSING}(${SIGN})\\s{0,20}`, 'gi');
const NAMED_IN_SOURCE = new RegExp(`${NAME}${CLOSING}(${ANNOTATED}|${SIGN})\\s{0,20}`, 'gi');

/** A quoted value up to its closing quote. */
const LITERAL =
  /((?:[bruf]{1,2}|@|\$)?("{3}|'{3}|["'`]))(?:\\[\s\S]|(?!\2)[^\\])+|((?:[bru]{1,2})?(\\{1,7}["'`]|%22|%27))(?:(?!\4)[\s\S])+/iy;
const BRACKETED = /\[[^\]]*\]?|\{[^}]*\}?/y;
/**
 * An unquoted value. Signs that end it in one language are part of it in another where more follows at once.
 */
const BARE = /(?:[^\s&;,"'<>)}\]\\]|[,"'<>)}\]\\](?=[^\s&;,"'<>)}\]\\]))+/y;
const BARE_ENCODED = /(?:(?!%26|%2C|%22|%7D|%20)[^\s&;,"'<>)}])+/iy;
/** After a colon in prose, a value is taken for a secret only when it has digits. */
const RANDOM = /(?=[^\s,;]{0,64}\d)[^\s,;"'{}[\]()]{6,}/y;
/** After these names it is one in any case. */
const SPOKEN = /passw|passphrase|(?:api|access|private)key|clientsecret|accesstoken/;
const SPOKEN_VALUE = /[^\s,;]+/y;

const HEADER =
  /(?<![a-z])((?:set-)?cookie|(?:proxy-)?authorization|x-[a-z-]{0,40}(?:key|token))(: *)[^\r\n]+/gi;
/** `--name value` of a command line, also where it is written as a list. */
const OPTION = /(?<![\w-])((--?[\w-]+)["']?,?[ \t]{1,5}["']?)[^\s"',\]-][^\s"',\]]*/g;
/** `user:password` of such a command line. */
const OPTION_CREDENTIALS = /(\s(?:-u|--user)[ \t=]{1,5}["']?[^\s:"']{1,100}:)[^\s"']+/g;
/** An XML element and its text. */
const ELEMENT = /(<([\w.:-]{1,100})(?:\s[^<>]{0,500})?>)[^<]+/g;
/** A part of a multipart form and its value. */
const PART = /(\bname="([^"\r\n]{1,100})"(?:\r?\n[^\r\n]{1,200}){0,3}(?:\r?\n){2})[^\r\n]+/g;

const isSecretName = (name: string): boolean => verdictOf(name) === 'secret';

/** Of two words the second is the name, unless only both are one: `api key`, but not `token expired`. */
function isNamedSecret(name: string): boolean {
  const space = name.indexOf(' ');
  if (space < 0) return isSecretName(name);
  if (isSecretName(name.slice(space + 1))) return true;
  return !isSecretName(name.slice(0, space)) && isSecretName(name.replace(' ', '_'));
}

/** The patterns of a value after such a name, by the sign between them. */
function valuesBehind(name: string, closing: string, sign: string): readonly RegExp[] {
  if (sign === ',') return [LITERAL];
  if (/^%3/i.test(sign)) return [LITERAL, BARE_ENCODED];
  if (sign !== ':' || closing !== '') return [LITERAL, BRACKETED, BARE];
  const isSpoken = SPOKEN.test(name.toLowerCase().replace(/[^a-z]/g, ''));
  return [LITERAL, BRACKETED, isSpoken ? SPOKEN_VALUE : RANDOM];
}

const inSource = [LITERAL];

/** The replacement of the value at `at`, and the end of the value. */
function removalAt(
  text: string,
  at: number,
  values: readonly RegExp[],
): { instead: string; end: number } | undefined {
  for (const value of values) {
    value.lastIndex = at;
    const found = value.exec(text);
    if (found) return { instead: `${found[1] ?? found[3] ?? ''}${REMOVED}`, end: value.lastIndex };
  }
  return undefined;
}

/** Removes the values of secret names; other values are scanned like the rest of the text. */
function scrubNamed(text: string, pattern: RegExp, isSource: boolean): string {
  let kept = '';
  let done = 0;
  pattern.lastIndex = 0;
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    const [whole, name = '', closing = '', sign = ''] = found;
    const at = found.index + whole.length;
    const removal = isNamedSecret(name)
      ? removalAt(text, at, isSource ? inSource : valuesBehind(name, closing, sign))
      : undefined;
    if (removal) {
      kept += text.slice(done, at) + removal.instead;
      done = removal.end;
    }
    pattern.lastIndex = removal ? done : found.index + name.length;
  }
  return done === 0 ? text : kept + text.slice(done);
}

/** Digits with the lengths and prefixes of card numbers. */
const CARD =
  /(?<![0-9a-z.])(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6(?:011|5\d\d|4[4-9]\d)|3[0-9]\d\d)(?:[ -]?\d){9,15}(?![0-9a-z])/gi;

function isCard(digits: string): boolean {
  if (digits.length < 13 || digits.length > 19) return false;
  let sum = 0;
  for (let place = 0; place < digits.length; place++) {
    const digit = Number(digits[digits.length - 1 - place]);
    const counted = place % 2 === 1 ? digit * 2 : digit;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return sum % 10 === 0;
}

/** The length of the card number at the start, where date or code may follow; 0 for none. */
function cardLength(text: string): number {
  for (let end = text.length; end > 12; end--) {
    const isWhole = end === text.length || /\D/.test(text.charAt(end));
    if (isWhole && isCard(text.slice(0, end).replace(/\D/g, ''))) return end;
  }
  return 0;
}

/** Used for JSON numbers too. */
export function scrubCards(text: string): string {
  let kept = '';
  let done = 0;
  CARD.lastIndex = 0;
  for (let found = CARD.exec(text); found; found = CARD.exec(text)) {
    const length = cardLength(found[0]);
    if (length > 0) {
      kept += text.slice(done, found.index) + REMOVED;
      done = found.index + length;
    }
    CARD.lastIndex = length > 0 ? done : found.index + 4;
  }
  return done === 0 ? text : kept + text.slice(done);
}

/** A text without one of these has no secret by shape. */
const SUSPECT =
  /\d{4}|@|PRIVATE KEY|(?:bearer|basic|negotiate|digest) |A[KS]IA|AIza|ya29\.|gh[pousr]_|github_pat_|gl[a-z]{2,6}-|xox[abprs]-|xapp-|k_(?:live|test)_|whsec_|sk-|SG\.|(?:npm|hf|dop_v1|dckr_pat|shp..)_|pypi-|hv[sb]\.|eyJ|hooks\.slack|webhooks\//i;

/** Removes secrets that are recognised by shape alone. */
function scrubShapes(text: string): string {
  if (!SUSPECT.test(text)) return text;
  let kept = text.replace(TOKEN, REMOVED).replace(HOOK, `$1${REMOVED}`);
  if (kept.includes('PRIVATE KEY')) kept = kept.replace(PRIVATE_KEY, REMOVED);
  if (kept.includes('@')) {
    if (kept.includes('://'))
      kept = kept.replace(ODD_CREDENTIALS, `$1${REMOVED}@`).replace(CREDENTIALS, `$1${REMOVED}@`);
    kept = kept.replace(DRIVER_CREDENTIALS, `${REMOVED}@`);
  }
  if (/\d{4}/.test(kept)) kept = scrubCards(kept);
  return kept.replace(AUTHORIZATION, `$1$2${REMOVED}`);
}

/** Removes keys, cards, credentials and the values of secret names. */
export function scrubText(text: string): string {
  const kept = scrubShapes(text);
  if (!HINT.test(kept)) return kept;
  const named = /[=:,]|%3/.test(kept)
    ? scrubNamed(kept.replace(HEADER, `$1$2${REMOVED}`), NAMED, false)
    : kept;
  return scrubMarked(named);
}

const withoutValue = (whole: string, marked: string, name: string): string =>
  isSecretName(name) ? `${marked}${REMOVED}` : whole;

/** The same for command lines, XML and forms. */
function scrubMarked(text: string): string {
  let kept = text;
  if (kept.includes('-'))
    kept = kept.replace(OPTION, withoutValue).replace(OPTION_CREDENTIALS, `$1${REMOVED}`);
  if (kept.includes('</')) kept = kept.replace(ELEMENT, withoutValue);
  return kept.includes('name="') ? kept.replace(PART, withoutValue) : kept;
}

/** Removes secrets from a line of source; their names stay. */
export function scrubSource(line: string): string {
  if (KEY_LINE.test(line)) return REMOVED;
  const kept = scrubShapes(line);
  return HINT.test(kept) ? scrubNamed(kept, NAMED_IN_SOURCE, true) : kept;
}
