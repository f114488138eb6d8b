"""Letters of other scripts that look like Latin ones: which, and what they pass for. Data; imports nothing of ours.

`IDENTICAL` holds letters whose Unicode confusables.txt skeleton is one ASCII letter, as carried by
the package confusable-homoglyphs 3.3.1 (MIT), `CONFUSABLE`
adds `_SIMILAR`: letters that attack tools use although Unicode calls them only similar.
`LATIN_CONFUSABLE` are letters of the Latin script itself (small capitals, IPA) that pass for plain ones.
"""

# Each word of these tables is a look-alike followed by the Latin letter it passes for.
_UNICODE = """
αa ΑA ΒB ΕE ϜF ΗH ιi ϳj ͿJ ΚK ΙI ΜM ϺM ΝN οo σo ΟO ρp ΡP ΤT υu νv ΧX γy ΥY ΖZ
аa АA Ьb ВB сc СC ԁd еe ҽe ЕE ԌG һh НH
іi ꙇi ӏl јj ЈJ КK ІI ӀI МM оo ОO рp РP ԛq гr ѕs ЅS ТT ѵv ѴV ѡw ԝw ԜW хx ХX уy үy УY ҮY
ᎪA Ꮟb ᏴB ꮯc ᏟC Ꮷd ᎠD ᎬE ᏀG ᏳG ᏻg ᴦr Ꮒh ᎻH ꭵi Ꭵi ᎫJ ᏦK ᏞL ᎷM ᏢP ꮁr ᎡR ᏒR ꮪs ᏕS ᏚS ᎢT ꮩv ᏙV ꮃw ᎳW ᏔW ᎩY ᎽY ꮓz ᏃZ
ᗅA ᑲb ᖯb ᗷB ᑯd ᗞD ᗪD ᖴF ᕼH ᒍJ ᒪL ᗰM ᑭP ᖇR ᑌU ᐯV ᕁx ᕽx
ꓮA ꓐB ꓚC ꓒd ꓓD ꓰE ꓝF ꓖG ꓧH ꓙJ ꓗK ꓲI ꓡL ꓟM ꓠN ꓳO ꓑP ꓣR ꓢS ꓔT ꓴU ꓦV ꓪW ꓫX ꓬY ꓜZ
𖽀A 𖼨l 𖼖L 𖼵R 𖼺S 𖼊T 𖽂U 𖼈V 𖽃Y 𐊠A 𐊡B 𐊢C 𐊥F 𐋏H 𐊰M 𐊫O 𐊱T 𐊴X 𐊲Y 𐊂B 𐊆E 𐊇F 𐊊l 𐊒O 𐊕P 𐊖S 𐊗T 𐊐X
𐌁B 𐌂C 𐌉l 𐌑M 𐌕T 𐌗X ⲥc ⲤC ⲎH ⲔK ⲒI ⳐL ⲘM ⲚN ⲟo ⲞO ⲣp ⲢP ⲅr ⲦT ⲬX ⲨY 𐐽c 𐐕C 𐐛L 𐐬o 𐐄O 𐑈s 𐐠S
𐔜C 𐔥F 𐔘K 𐔦L 𐔓N 𐔖O 𐔝V 𐔧X ⴹE ⵏl ⵔO ⵕQ ⴸV ⵝX 𑢦E 𑢮E 𑣂F 𑢢F 𑣃i 𑢣L 𑢲L 𑣈o 𑣗o 𑢵O 𑣁s 𑢼T 𑣘u 𑢸U 𑣀v 𑢠V 𑣜y 𑢤Y 𑣄z 𑢩Z
քf ցg հh ոn ռn օo ՕO գq զq ՏS սu ՍU աw ᛕK ᛁl ᛖM ᚷX ჿo ყy ഠo ဝo 𐓪o 𐓂O 𐒴R 𐓶u 𐓎U ዐO ሀU ଠO 𑜆v 𑜊w 𑜎w 𑜏w ꛟV
"""
_SIMILAR = """
кk тt мm нh вb пn иu ԍg ґr ёe їi ўy єe ѓr ќk ӓa ӧo ӱy ӑa ѐe ѝu ҳx ҝk қk ҡk ңh ҫc
κk ηn τt ωw χx εe άa έe ήn ίi ϊi όo ύu ώw ςs ΆA ΈE ΉH ΊI ΌO ΎY
"""
_LATIN = """
ɑa ꞲJ ƄB ꞴB ᴄc ꬲe ꬵf ꞙf ẝf ꞘF ɡg ᶃg ƍg ɪi ɩi ƖI ǀl ᴏo ᴑo ꬽo ꭇr ꭈr ƦR ꜱs ƽs ꞟu ᴜu ꭎu ꭒu ʋu ᴠv ɯw ᴡw ꞳX ɣy ᶌy ʏy ỿy ꭚy ᴢz
ᴀa ʙb ᴅd ᴇe ꜰf ɢg ʜh ᴊj ᴋk ʟl ᴍm ɴn ᴘp ꞯq ʀr ᴛt
"""


def _table(words: str) -> dict[str, str]:
    return {word[0]: word[1] for word in words.split()}


IDENTICAL: dict[str, str] = _table(_UNICODE)
CONFUSABLE: dict[str, str] = IDENTICAL | _table(_SIMILAR)
LATIN_CONFUSABLE: dict[str, str] = _table(_LATIN)
