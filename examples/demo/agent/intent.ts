/** A transfer that was asked for. */
export interface TransferIntent {
  readonly from: string;
  readonly to: string;
  readonly amount: number;
  readonly currency: string;
  readonly reference: string;
}

/** What a message asks for, as far as the script understands it. */
export interface Intent {
  readonly cities: readonly string[];
  readonly here: boolean;
  readonly weatherHere: boolean;
  readonly transfers: readonly TransferIntent[];
  readonly story: boolean;
  readonly greeting: boolean;
}

const weatherWords = /\b(weather|forecast|rain(ing)?|sunny|temperature|umbrella|cold|warm)\b/i;
const hereWords =
  /\b(where am i|where i am|my (location|place)|around me|near me|here|locate me|my weather)\b/i;

export function intentOf(text: string): Intent {
  const weather = weatherWords.test(text);
  const here = hereWords.test(text);
  return {
    cities: weather ? citiesIn(text) : [],
    here,
    weatherHere: weather && here,
    transfers: transfersIn(text),
    story: /\b(story|tale|long (text|answer))\b/i.test(text),
    greeting: /^\s*(hi|hello|hey|good (morning|evening|day))\b/i.test(text),
  };
}

/** "in Oslo, Bergen and New York" names three. */
function citiesIn(text: string): string[] {
  const match = /\b(?:in|for|at|of)\s+([^?!.]+)/i.exec(
    text.replace(/\b(send|pay|transfer|wire)\b.*/is, ""),
  );
  if (!match?.[1]) return [];
  return match[1]
    .split(/,|\band\b|&|\bor\b/i)
    .map((city) => city.replace(/\b(today|tomorrow|now|right now|please|then)\b/gi, "").trim())
    .filter((city) => city !== "" && !hereWords.test(city))
    .slice(0, 4);
}

const currencies: Readonly<Record<string, string>> = {
  "€": "EUR",
  $: "USD",
  "£": "GBP",
  "¥": "JPY",
};
const transferWords =
  /\b(?:send|pay|transfer|wire)\s+(?:(?<sign>[€$£¥])\s*)?(?<amount>\d+(?:[.,]\d{1,2})?)\s*(?<unit>[€$£¥]|[a-z]{3,7})?\s+to\s+(?<to>[^,.?!]+?)(?:\s+for\s+(?<reference>[^,.?!]+?))?(?=$|[,.?!]|\s+and\s+(?:send|pay|transfer|wire|what|how|where)\b)/gi;

function transfersIn(text: string): TransferIntent[] {
  return [...text.matchAll(transferWords)].slice(0, 3).map(({ groups = {} }) => ({
    from: "Everyday account",
    to: (groups["to"] ?? "").trim(),
    amount: Number((groups["amount"] ?? "0").replace(",", ".")),
    currency: currencyOf(groups["sign"] ?? groups["unit"] ?? "EUR"),
    reference: sentence(groups["reference"] ?? "With thanks"),
  }));
}

function currencyOf(word: string): string {
  const upper = word.toLocaleUpperCase();
  if (upper.startsWith("EURO")) return "EUR";
  if (upper.startsWith("DOLLAR")) return "USD";
  if (upper.startsWith("POUND")) return "GBP";
  return currencies[word] ?? upper;
}

function sentence(words: string): string {
  return words.charAt(0).toLocaleUpperCase() + words.slice(1);
}
