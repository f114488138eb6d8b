"""Texts to try: a classic, one in the manner of a model, and one of both; written for this page or long free."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

CLASSIC, MODEL, BOTH = "classic", "model", "both"


@dataclass(frozen=True, slots=True)
class Sample:
    """name: as in the address.  label: what the page calls it."""

    name: str
    label: Promise


SAMPLES = (
    Sample(CLASSIC, _("A classic")),
    Sample(MODEL, _("Typical AI style")),
    Sample(BOTH, _("Half and half")),
)

_ENGLISH_MODEL = """\
Remote work has fundamentally transformed the way organizations operate in today's rapidly evolving \
landscape. By embracing flexible arrangements, companies can unlock a wide range of benefits, \
including increased productivity, improved employee satisfaction, and access to a more diverse \
talent pool. However, it is important to recognize that this shift also presents unique challenges. \
Effective communication, clear expectations, and robust digital infrastructure are essential for \
fostering collaboration across distributed teams. Moreover, leaders must prioritize well-being by \
encouraging healthy boundaries between professional and personal life. Ultimately, the success of \
remote work depends on striking a thoughtful balance between autonomy and accountability, ensuring \
that every team member feels supported, connected, and empowered to thrive in an increasingly \
digital world."""

_SPANISH_MODEL = """\
El trabajo remoto ha transformado de manera fundamental la forma en que operan las organizaciones en \
un entorno cada vez más dinámico. Al adoptar modelos flexibles, las empresas pueden aprovechar una \
amplia gama de beneficios, entre los que destacan el aumento de la productividad, la mejora de la \
satisfacción laboral y el acceso a un talento más diverso. Sin embargo, es importante reconocer que \
este cambio también presenta desafíos significativos. La comunicación efectiva, las expectativas \
claras y una infraestructura digital sólida resultan esenciales para fomentar la colaboración entre \
equipos distribuidos. Asimismo, los líderes deben priorizar el bienestar de las personas y promover \
límites saludables entre la vida profesional y la personal. En definitiva, el éxito del trabajo \
remoto depende de encontrar un equilibrio adecuado entre autonomía y responsabilidad."""

# Jerome K. Jerome, Three Men in a Boat, 1889.
_ENGLISH_CLASSIC = """\
It always does seem to me that I am doing more work than I should do. It is not that I object to the \
work, mind you; I like work: it fascinates me. I can sit and look at it for hours. I love to keep it \
by me: the idea of getting rid of it nearly breaks my heart. You cannot give me too much work; to \
accumulate work has almost become a passion with me: my study is so full of it now, that there is \
hardly an inch of room for any more. I shall have to throw out a wing soon. And I am careful of my \
work, too. Why, some of the work that I have by me now has been in my possession for years and \
years, and there isn't a finger-mark on it."""

# Mariano José de Larra, Vuelva usted mañana, 1833.
_SPANISH_CLASSIC = """\
Gran persona debió de ser el primero que llamó pecado mortal a la pereza; nosotros, que ya en uno de \
nuestros artículos anteriores estuvimos más serios de lo que nunca nos habíamos propuesto, no \
entraremos ahora en largas y profundas investigaciones acerca de la historia de este pecado, por más \
que conozcamos que hay pecados que pican en historia, y que la historia de los pecados sería un \
tanto cuanto divertida. Convengamos solamente en que esta institución ha cerrado y cerrará las \
puertas del cielo a más de un cristiano."""

_ENGLISH_NOTE = """\
We never did find out who left the bicycle. It was there on the Tuesday, leaning on the chapel gate \
with its chain off, and by Friday my aunt had talked herself into believing it was a sign, though of \
what she wouldn't say. Our Dennis oiled it. Then he rode it to the quarry and back, for the good of \
the bearings, he said, and after that it was more or less his. I remember he painted over the \
maker's name with the green left from the privy door. Forty years on I saw that green again, on a \
boat in Whitby of all places, and had to go and sit down. You would think it would be the big \
things. It was never the big things with me: it was the bell that didn't ring and the one odd pedal, \
wood, off somebody's sewing machine. She kept the lamp, my aunt did, on the windowsill, in case they \
came asking."""

_SPANISH_NOTE = """\
Nunca supimos de quién era la bicicleta. Apareció un martes, apoyada en la verja de la ermita y con \
la cadena salida, y para el viernes mi tía ya se había convencido de que era una señal, aunque de \
qué no quiso decirlo. Mi primo Damián la engrasó. Luego se fue con ella hasta la cantera, ida y \
vuelta, por el bien de los rodamientos, según él, y desde entonces fue más o menos suya. Le tapó la \
marca con la pintura verde que había sobrado del corral. Cuarenta años después vi ese mismo verde en \
una barca, en Luarca, figúrate, y me tuve que sentar. Una cree que van a ser las cosas grandes. \
Nunca lo fueron: era el timbre que no sonaba y aquel pedal suelto, de madera, de la máquina de coser \
de no sé quién. El farol lo guardó mi tía en la repisa, por si venían a preguntar."""

TEXTS = {
    "en": {
        CLASSIC: _ENGLISH_CLASSIC,
        MODEL: _ENGLISH_MODEL,
        BOTH: f"{_ENGLISH_NOTE}\n\n{_ENGLISH_MODEL}",
    },
    "es": {
        CLASSIC: _SPANISH_CLASSIC,
        MODEL: _SPANISH_MODEL,
        BOTH: f"{_SPANISH_NOTE}\n\n{_SPANISH_MODEL}",
    },
}


def text_of(name: str, language: str) -> str:
    """The sample of that name in the page's language; empty for a name that is none."""
    return TEXTS.get(language[:2], TEXTS["en"]).get(name, "")
