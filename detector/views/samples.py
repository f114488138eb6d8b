"""Texts to try: a classic, one in the manner of a model, and both in one; long free, or written for this page."""

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

# Jerome K. Jerome, Three Men in a Boat, 1889.
_ENGLISH_CLASSIC = """\
It always does seem to me that I am doing more work than I should do. It is not that I object to the \
work, mind you; I like work: it fascinates me. I can sit and look at it for hours. I love to keep it \
by me: the idea of getting rid of it nearly breaks my heart. You cannot give me too much work; to \
accumulate work has almost become a passion with me: my study is so full of it now, that there is \
hardly an inch of room for any more. I shall have to throw out a wing soon. And I am careful of my \
work, too. Why, some of the work that I have by me now has been in my possession for years and \
years, and there isn't a finger-mark on it. I take a great pride in my work; I take it down now and \
then and dust it. No man keeps his work in a better state of preservation than I do. But, though I \
crave for work, I still like to be fair. I do not ask for more than my proper share. But I get it \
without asking for it, at least so it appears to me, and this worries me."""

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
digital world. In conclusion, organizations that invest in thoughtful policies and modern tools will \
be well positioned to attract talent and foster lasting growth."""

# Mariano José de Larra, Vuelva usted mañana, 1833.
_SPANISH_CLASSIC = """\
Gran persona debió de ser el primero que llamó pecado mortal a la pereza; nosotros, que ya en uno de \
nuestros artículos anteriores estuvimos más serios de lo que nunca nos habíamos propuesto, no \
entraremos ahora en largas y profundas investigaciones acerca de la historia de este pecado, por más \
que conozcamos que hay pecados que pican en historia, y que la historia de los pecados sería un \
tanto cuanto divertida. Convengamos solamente en que esta institución ha cerrado y cerrará las \
puertas del cielo a más de un cristiano. Estas reflexiones hacía yo casualmente no hace muchos días, \
cuando se presentó en mi casa un extranjero de estos que, en buena o en mala parte, han de tener \
siempre de nuestro país una idea exagerada e hiperbólica; de estos que, o creen que los hombres aquí \
son todavía los espléndidos, francos, generosos y caballerescos seres de hace dos siglos, o que son \
aún las tribus nómadas del otro lado del Atlante."""

_SPANISH_MODEL = """\
El trabajo remoto ha transformado de manera fundamental la forma en que operan las organizaciones en \
un entorno cada vez más dinámico. Al adoptar modelos flexibles, las empresas pueden aprovechar una \
amplia gama de beneficios, entre los que destacan el aumento de la productividad, la mejora de la \
satisfacción laboral y el acceso a un talento más diverso. Sin embargo, es importante reconocer que \
este cambio también presenta desafíos significativos. La comunicación efectiva, las expectativas \
claras y una infraestructura digital sólida resultan esenciales para fomentar la colaboración entre \
equipos distribuidos. Asimismo, los líderes deben priorizar el bienestar de las personas y promover \
límites saludables entre la vida profesional y la personal. En definitiva, el éxito del trabajo \
remoto depende de encontrar un equilibrio adecuado entre autonomía y responsabilidad. En conclusión, \
las organizaciones que inviertan en políticas bien pensadas y en herramientas modernas estarán mejor \
preparadas para atraer talento."""

TEXTS = {
    "en": {
        CLASSIC: _ENGLISH_CLASSIC,
        MODEL: _ENGLISH_MODEL,
        BOTH: f"{_ENGLISH_CLASSIC}\n\n{_ENGLISH_MODEL}",
    },
    "es": {
        CLASSIC: _SPANISH_CLASSIC,
        MODEL: _SPANISH_MODEL,
        BOTH: f"{_SPANISH_CLASSIC}\n\n{_SPANISH_MODEL}",
    },
}


def text_of(name: str, language: str) -> str:
    """The sample of that name in the page's language; empty for a name that is none."""
    return TEXTS.get(language[:2], TEXTS["en"]).get(name, "")
