"""The words and letters that attacks exchange: spellings, misspellings, articles, look-alikes, keyboard. Data only.

AMERICAN_BRITISH and `_MISSPELT` were written for this project after what style guides and spelling lists commonly name.
LOOKALIKES: Cyrillic and Greek letters that Unicode's confusables.txt gives the shape of a Latin one.
May be imported by: attacks. Imports nothing.
"""

# One stem a line: American/British, then the endings with which it occurs ("-" is the bare stem).
_STEMS = """
behavior/behaviour - s al ally
color/colour - s ed ing ful less
favor/favour - s ed ing able ite ites
flavor/flavour - s ed ing
harbor/harbour - s
honor/honour - s ed ing able
humor/humour -
labor/labour - s ed ing er ers
neighbor/neighbour - s ing hood hoods
rumor/rumour - s ed
endeavor/endeavour - s
vapor/vapour - s
savior/saviour - s
odor/odour - s
tumor/tumour - s
parlor/parlour - s
vigor/vigour -
rigor/rigour -
center/centre - s
centered/centred -
theater/theatre - s
fiber/fibre - s
liter/litre - s
meter/metre - s
kilometer/kilometre - s
caliber/calibre -
somber/sombre -
meager/meagre -
specter/spectre - s
luster/lustre -
defense/defence - s less
offense/offence - s
pretense/pretence - s
catalog/catalogue - s
dialog/dialogue - s
analog/analogue - s
analyz/analys e ed ing
paralyz/paralys e ed ing
catalyz/catalys e ed ing
travel/travell ed ing er ers
cancel/cancell ed ing
model/modell ed ing
label/labell ed ing
level/levell ed ing
fuel/fuell ed ing
signal/signall ed ing
counsel/counsell ed ing or ors
marvel/marvell ed ous
fulfill/fulfil - s ment
enroll/enrol - s ment
installment/instalment - s
skillful/skilful - ly
willful/wilful - ly
jewelry/jewellery -
gray/grey - s ish
aging/ageing -
judgment/judgement - s
acknowledgment/acknowledgement - s
plow/plough - s ed ing
mold/mould - s ed
mom/mum - s
pajamas/pyjamas -
mustache/moustache - s
skeptic/sceptic - s al ism
aluminum/aluminium -
airplane/aeroplane - s
maneuver/manoeuvre - s
pediatric/paediatric - s
anesthesia/anaesthesia -
orthopedic/orthopaedic - s
leukemia/leukaemia -
anemia/anaemia -
estrogen/oestrogen -
fetus/foetus - es
cozy/cosy -
artifact/artefact - s
program/programme - s
toward/towards -
"""
_IZE = """
organ real recogn apolog critic emphas memor minim maxim optim priorit summar util special symbol categor character
civil general standard stabil modern author capital central final mobil normal popular social sympath visual
"""
_IZE_ENDS = ("e", "es", "ed", "ing", "er", "ers", "ation", "ations")


def _american_british() -> dict[str, str]:
    pairs = {f"{stem}iz{end}": f"{stem}is{end}" for stem in _IZE.split() for end in _IZE_ENDS}
    for line in _STEMS.split("\n"):
        if line:
            stems, *ends = line.split()
            american, british = stems.split("/")
            pairs |= {american + end.strip("-"): british + end.strip("-") for end in ends}
    return pairs


AMERICAN_BRITISH: dict[str, str] = _american_british()

ARTICLES: dict[str, str] = {"en": "the a an", "es": "el la los las un una unos unas"}

# A correct word, then how people misspell it.
_MISSPELT = {
    "en": """
the:teh,hte that:taht,thta with:wiht,whit they:tehy,thye their:thier,there there:their,thier have:ahve,hvae
would:woudl,wuold could:coudl,cuold should:shoud,shuold about:abuot,baout because:becuase,becasue,becouse
which:wich,whcih people:poeple,peple really:realy,relly until:untill,untl friend:freind,frend friends:freinds
believe:beleive,belive received:recieved receive:recieve different:diffrent,diferent separate:seperate
definitely:definately,definitly occurred:occured government:goverment,governement environment:enviroment
necessary:neccessary,necesary beginning:begining tomorrow:tommorow,tommorrow weird:wierd experience:experiance
important:importent,improtant knowledge:knowlege interesting:intresting,interresting business:buisness,bussiness
beautiful:beatiful,beautifull school:shcool,scool through:trough,thru though:tho,thuogh
thought:thougt,thouht always:allways,alwasy almost:allmost together:togather,togehter another:anohter,anther
before:befor,beofre after:atfer,aftr where:wher,whre were:where,wre when:whne,wehn what:waht,wath this:tihs,thsi
from:fomr,frmo your:yuor,youre you:yuo and:adn,nad for:fro not:nto know:konw,knwo think:thnik,htink
just:jsut little:litle,littel something:somthing,somehting sometimes:sometimes,somtimes success:sucess,succes
successful:succesful,sucessful possible:possable,posible probably:probaly,probly public:pubic,publick
particularly:particulary particular:particuler across:accross address:adress argument:arguement appear:apear
appearance:appearence available:availible,avaliable calendar:calender category:catagory certain:certian
character:charachter committee:commitee,comittee completely:completly conscious:concious decision:desicion
development:developement disappear:dissapear disappoint:dissapoint embarrass:embarass especially:especialy,expecially
example:exemple,exmaple existence:existance familiar:familar,familier finally:finaly foreign:foriegn
forward:foward general:genral grammar:grammer happened:happend,happenned height:hieght immediately:immediatly
independent:independant intelligence:inteligence language:langauge,languge library:libary,librery
maintenance:maintenence million:milion minute:minuet national:nationel occasion:occassion often:offen,oftn
opportunity:oppertunity,oportunity original:orignal parents:parants perform:preform period:peroid person:preson
personal:personel piece:peice political:politcal position:postion possession:posession prefer:perfer
problem:probelm,problen process:proccess program:porgram question:qeustion,quesiton recommend:recomend,reccomend
reference:referance,refrence religious:religous research:reserch,reasearch restaurant:restaraunt,resturant
several:severel,sevral similar:similiar,simular since:sinse social:scoial society:soceity special:speical
strength:strenght student:studnet students:studnets,studens surprise:suprise system:sytem,systm technology:tecnology
than:then then:than too:to truly:truely usually:usualy,ussually various:varius whether:wether,wheather while:whlie
without:wihtout,witout world:wrold writing:writting written:writen years:yaers,yeras young:yuong
""",
    "es": """
también:tambien,tanbien después:despues,despuez más:mas está:esta,stá estaba:estava así:asi había:habia,abia
haber:aver,haver hacer:aser,hazer hecho:echo ha:a hay:ahi,ay hasta:asta porque:porqe,porke entonces:entonses
vez:ves voy:boy va:ba iba:iva vida:bida vivir:bibir nuevo:nuebo todavía:todavia,todabia país:pais días:dias día:dia
qué:que cómo:como cuándo:cuando dónde:donde quién:quien sólo:solo él:el tú:tu sí:si mí:mi años:anos,añoz año:ano
niños:ninos mañana:manana español:espanol señor:senor señora:senora pequeño:pequeno gobierno:govierno,gobierrno
decisión:decision,desición situación:situacion,situasión información:informacion nación:nacion
educación:educacion,educasion razón:razon corazón:corazon,corason mayor:mallor ayer:aller ya:lla llegó:llego,yego
llegar:yegar allí:ahi,alli aquí:aqui hijo:ijo hijos:ijos hombre:ombre hombres:ombres hora:ora horas:oras hoy:oy
historia:istoria ahora:aora,haora conocer:conoser necesario:nesesario necesidad:nesesidad
veces:beces,vezes entre:etre mundo:mudno gente:jente mujer:muger mejor:megor trabajo:travajo trabajar:travajar
siempre:siempr,sienpre tiempo:tienpo cambio:canbio ejemplo:ejenplo grande:gande muy:mui para:pra pero:peor
cuando:quando desde:dezde quiero:kiero quería:queria podía:podia tenía:tenia sería:seria fácil:facil difícil:dificil
último:ultimo público:publico política:politica número:numero único:unico según:segun además:ademas través:traves,travez
""",
}


def _misspelt(language: str) -> dict[str, tuple[str, ...]]:
    entries = (entry.partition(":") for entry in _MISSPELT[language].replace("\n", " ").split(" ") if ":" in entry)
    found = {word: tuple(wrong for wrong in wrongs.split(",") if wrong != word) for word, _, wrongs in entries}
    return {word: wrongs for word, wrongs in found.items() if wrongs}


MISSPELT: dict[str, dict[str, tuple[str, ...]]] = {language: _misspelt(language) for language in _MISSPELT}

# A Latin letter and the letters that look like it: those of RAID, then s, S, j, J and Y, which Unicode adds.
# Small letters have Cyrillic twins only, as in RAID: lone Greek capitals are then the hard case.
LOOKALIKES: dict[str, str] = {
    "a": "а", "A": "АΑ", "B": "ВΒ", "c": "с", "C": "С", "e": "е", "E": "ЕΕ", "H": "НΗ", "i": "і", "I": "ІΙ", "K": "КΚ",
    "M": "МΜ", "N": "Ν", "o": "о", "O": "ОΟ", "p": "р", "P": "РΡ", "T": "ТΤ", "x": "х", "X": "ХΧ", "y": "у", "Z": "Ζ",
    "s": "ѕ", "S": "Ѕ", "j": "ј", "J": "Ј", "Y": "ΥҮ",
}  # fmt: skip

_KEY_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
KEY_NEIGHBOURS: dict[str, str] = {
    key: row[max(0, at - 1) : at] + row[at + 1 : at + 2] for row in _KEY_ROWS for at, key in enumerate(row)
}

HEADINGS: dict[str, tuple[str, ...]] = {
    "en": ("Overview", "Background", "Details", "Key points", "What this means", "Summary"),
    "es": ("Resumen", "Antecedentes", "Detalles", "Puntos clave", "Contexto", "Conclusiones"),
}
