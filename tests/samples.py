"""Texts for tests, written for this project or long in the public domain. Each says what it is good for."""

# Public domain (J. Austen, Emma, 1815): a person wrote it, whatever a model says.
HUMAN = (
    "Emma Woodhouse, handsome, clever, and rich, with a comfortable home and happy disposition, seemed to unite some "
    "of the best blessings of existence; and had lived nearly twenty-one years in the world with very little to "
    "distress or vex her. She was the youngest of the two daughters of a most affectionate, indulgent father; and "
    "had, in consequence of her sister's marriage, been mistress of his house from a very early period. Her mother "
    "had died too long ago for her to have more than an indistinct remembrance of her caresses; and her place had "
    "been supplied by an excellent woman as governess, who had fallen little short of a mother in affection. Sixteen "
    "years had Miss Taylor been in Mr. Woodhouse's family, less as a governess than a friend, very fond of both "
    "daughters, but particularly of Emma."
)

# The manner of a language model that was asked for an essay.
AI = (
    "In today's rapidly evolving digital landscape, effective communication has become more important than ever. "
    "Organizations that prioritize clear and transparent messaging are better positioned to build trust with their "
    "stakeholders and foster long-term relationships. Moreover, leveraging modern technology allows teams to "
    "collaborate seamlessly across different locations and time zones. It is essential, however, to strike a balance "
    "between efficiency and authenticity. By embracing a thoughtful approach to communication, leaders can create an "
    "environment where employees feel valued, engaged, and empowered to contribute their best work. Ultimately, the "
    "success of any organization depends not only on its strategies but also on its ability to connect with people in "
    "a meaningful way. In conclusion, investing in communication is a crucial step toward sustainable growth and a "
    "brighter future for everyone involved."
)

# Public domain (B. Pérez Galdós, Marianela, 1878).
SPANISH = (
    "Se puso el sol. Tras el breve crepúsculo vino tranquila y oscura la noche, en cuyo negro seno murieron poco a "
    "poco los últimos rumores de la tierra soñolienta, y el viajero siguió adelante en su camino, apresurando su paso "
    "a medida que avanzaba la noche. Iba por angosta vereda, de esas que sobre el césped traza el constante pisar de "
    "hombres y brutos, y subía sin cansancio por un cerro, en cuyas vertientes se alzaban pintorescos grupos de "
    "guinderos, hayas y robles. Era un hombre de mediana edad, de complexión recia, buena talla, ancho de espaldas, "
    "resuelto de ademanes, firme de andadura, basto de facciones, de mirar osado y vivo, ligero a pesar de su regular "
    "obesidad, y excelente persona por doquiera que se le mirara."
)

GERMAN = (
    "Der Wagen hielt vor dem kleinen Haus am Ende der Straße, und der alte Mann stieg langsam aus. Er sah sich um, "
    "als hätte er den Ort seit vielen Jahren nicht mehr gesehen, und blieb eine Weile vor der Tür stehen. Die Fenster "
    "waren dunkel, und im Garten wuchs das Gras so hoch, dass man den Weg kaum noch erkennen konnte. Schließlich nahm "
    "er den Schlüssel aus der Tasche und öffnete die Tür, die sich nur schwer bewegen ließ, weil lange niemand mehr "
    "hier gewesen war."
)

ARABIC = (
    "كان الرجل العجوز يجلس كل صباح أمام باب بيته الصغير وينظر إلى البحر البعيد وهو يفكر في الأيام التي مضت. "
    "وكان أهل القرية يمرون به ويسلمون عليه فيرد السلام بصوت هادئ ثم يعود إلى صمته الطويل. وقد عرف الجميع أنه كان "
    "بحارا في شبابه وأنه سافر إلى بلاد كثيرة ورأى من العجائب ما لم يره أحد من أهل القرية قبله. وكان الأطفال يحبون "
    "أن يجلسوا حوله في المساء ليسمعوا منه حكايات السفر والعواصف والجزر البعيدة التي لا يعرف أحد طريقها إلا هو."
)

CODE = "\n".join(
    f"def step_{n}(value: int, scale: float = {n}.5) -> float:\n    total = value * scale + {n}\n    return total\n"
    for n in range(40)
)

SHORT = "A few words are not enough to say who wrote them."
EMOJI = "🎉🔥😀" * 400
ENDLESS_WORD = "a" * 5_000

# Left-out code, an emoji, a zero-width space and a soft hyphen between the prose: offsets are easy to get wrong.
MIXED = (
    "🙂 "
    + HUMAN[:400]
    + "\u200b\u00ad"
    + HUMAN[400:]
    + "\n\n```python\nfor index in range(10):\n    print(index)\n```\n\n"
    + AI
    + " 🎈\n"
)


def long_text(characters: int) -> str:
    """Prose of about that many characters, no two paragraphs alike."""
    paragraphs = (f"Chapter {n} begins. {HUMAN} {AI}" for n in range(1, 10_000))
    text = ""
    while len(text) < characters:
        text += next(paragraphs) + "\n\n"
    return text[:characters].rsplit(" ", 1)[0]
