/** Encodings by Windows or OEM code page, with the names of the WHATWG's Encoding Standard if it has them. */
const BY_CODE_PAGE: Readonly<Record<number, string>> = {
  437: 'IBM437',
  737: 'IBM737',
  775: 'IBM775',
  850: 'IBM850',
  852: 'IBM852',
  857: 'IBM857',
  860: 'IBM860',
  861: 'IBM861',
  863: 'IBM863',
  865: 'IBM865',
  866: 'IBM866',
  874: 'windows-874',
  932: 'Shift_JIS',
  936: 'GBK',
  949: 'EUC-KR',
  950: 'Big5',
  1250: 'windows-1250',
  1251: 'windows-1251',
  1252: 'windows-1252',
  1253: 'windows-1253',
  1254: 'windows-1254',
  1255: 'windows-1255',
  1256: 'windows-1256',
  1257: 'windows-1257',
  1258: 'windows-1258',
  28591: 'ISO-8859-1',
  54936: 'GB18030',
  65001: 'UTF-8',
}

/** Code pages by the language driver of a dBASE table (byte 29 of its header). 0x57, "ANSI", is omitted: programs write it into any table. */
const BY_LANGUAGE_DRIVER: Readonly<Record<number, number>> = {
  1: 437,
  2: 850,
  3: 1252,
  8: 865,
  9: 437,
  10: 850,
  11: 437,
  13: 437,
  14: 850,
  15: 437,
  16: 850,
  17: 437,
  18: 850,
  19: 932,
  20: 850,
  21: 437,
  22: 850,
  23: 865,
  24: 437,
  25: 437,
  26: 850,
  27: 437,
  28: 863,
  29: 850,
  31: 852,
  34: 852,
  35: 852,
  36: 860,
  37: 850,
  38: 866,
  55: 850,
  64: 852,
  77: 936,
  78: 949,
  79: 950,
  80: 874,
  88: 1252,
  89: 1252,
  100: 852,
  101: 866,
  102: 865,
  103: 861,
  106: 737,
  107: 857,
  108: 863,
  120: 950,
  121: 949,
  122: 936,
  123: 932,
  124: 874,
  125: 1255,
  126: 1256,
  134: 737,
  135: 852,
  136: 857,
  200: 1250,
  201: 1251,
  202: 1254,
  203: 1253,
  204: 1257,
}

/** Returns the encoding that a .cpg names, by a code page in one of many spellings or by a name; null for other content. */
export function encodingOfCpg(text: string): string | null {
  const name = text
    .replace(/^\uFEFF/, '')
    .replaceAll('\0', '')
    .trim()
  if (!/^[A-Za-z][\w .:-]{1,39}$|^\d{2,5}$|^8859[-_ ]\d{1,2}$/.test(name)) return null
  if (/^utf[-_ ]?8$/i.test(name)) return 'UTF-8'
  if (/^big[-_ ]?5$/i.test(name)) return 'Big5'
  // Programs of Esri write "ISO 88592" or "88592" for ISO-8859-2.
  const part = /^(?:iso[-_ ]?)?8859[-_ ]?(\d{1,2})$/i.exec(name)?.[1]
  if (part !== undefined) return `ISO-8859-${Number(part)}`
  const page = /^(?:(?:cp|ansi|oem|windows|ms)[-_ ]?)?(\d{2,5})$/i.exec(name)?.[1]
  return page === undefined ? name : (BY_CODE_PAGE[Number(page)] ?? name)
}

export function encodingOfLanguageDriver(driver: number): string | null {
  return BY_CODE_PAGE[BY_LANGUAGE_DRIVER[driver] ?? 0] ?? null
}

/** True if text in an encoding of that name can be decoded here. */
export function isDecodable(name: string): boolean {
  return knownEncoding(name) !== null
}

const KNOWN: ReadonlySet<string> = new Set(Object.values(BY_CODE_PAGE))

/** Returns the encoding that an operator names, in a spelling of this system or of .cpg files; null if it is unknown. */
export function knownEncoding(name: string): string | null {
  const encoding = encodingOfCpg(name)
  return encoding && (spelledAsKnown(encoding) ?? spelledAsStandard(encoding))
}

function spelledAsKnown(encoding: string): string | null {
  return [...KNOWN].find((known) => known.toLowerCase() === encoding.toLowerCase()) ?? null
}

/** Maps a label to the standard spelling, since the Encoding Standard has many labels for one encoding. */
function spelledAsStandard(label: string): string | null {
  try {
    const { encoding } = new TextDecoder(label)
    return spelledAsKnown(encoding) ?? encoding
  } catch {
    return null
  }
}

/** The upper half of the code pages of DOS that the Encoding Standard lacks. */
const DOS_PAGES: Readonly<Record<string, string>> = {
  IBM437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  IBM737:
    'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθικλμνξοπρσςτυφχψ░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀ωάέήϊίόύϋώΆΈΉΊΌΎΏ±≥≤ΪΫ÷≈°∙·√ⁿ²■\u00a0',
  IBM775:
    'ĆüéāäģåćłēŖŗīŹÄÅÉæÆōöĢ¢ŚśÖÜø£Ø×¤ĀĪóŻżź”¦©®¬½¼Ł«»░▒▓│┤ĄČĘĖ╣║╗╝ĮŠ┐└┴┬├─┼ŲŪ╚╔╩╦╠═╬Žąčęėįšųūž┘┌█▄▌▐▀ÓßŌŃõÕµńĶķĻļņĒŅ’\u00ad±“¾¶§÷„°∙·¹³²■\u00a0',
  IBM850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
  IBM852:
    'ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u00ad˝˛ˇ˘§÷¸°¨˙űŘř■\u00a0',
  IBM857:
    'ÇüéâäàåçêëèïîıÄÅÉæÆôöòûùİÖÜø£ØŞşáíóúñÑĞğ¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ºªÊËÈ\ufffdÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµ\ufffd×ÚÛÙìÿ¯´\u00ad±\ufffd¾¶§÷¸°¨·¹³²■\u00a0',
  IBM860:
    'ÇüéâãàÁçêÊèÍÔìÃÂÉÀÈôõòÚùÌÕÜ¢£Ù₧ÓáíóúñÑªº¿Ò¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  IBM861:
    'ÇüéâäàåçêëèÐðÞÄÅÉæÆôöþûÝýÖÜø£Ø₧ƒáíóúÁÍÓÚ¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  IBM863:
    'ÇüéâÂà¶çêëèïî‗À§ÉÈÊôËÏûù¤ÔÜ¢£ÙÛƒ¦´óú¨¸³¯Î⌐¬½¼¾«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  IBM865:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø₧ƒáíóúñÑªº¿⌐¬½¼¡«¤░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
}

/** Returns a decoder of texts. Bytes of an unknown encoding become characters of Windows-1252, as other programs show them. */
export function decoderOf(encoding: string | null): (bytes: Buffer) => string {
  const page = encoding === null ? undefined : DOS_PAGES[encoding]
  if (page !== undefined)
    return (bytes) => Array.from(bytes, (byte) => (byte < 128 ? String.fromCharCode(byte) : page[byte - 128])).join('')
  const label = encoding !== null && spelledAsStandard(encoding) !== null ? encoding : 'windows-1252'
  const decoder = new TextDecoder(label)
  // Without `stream`, Node decodes windows-1252 as ISO-8859-1, whose bytes from 0x80 to 0x9f are control characters.
  const options = { stream: decoder.encoding === 'windows-1252' }
  return (bytes) => decoder.decode(bytes, options)
}
