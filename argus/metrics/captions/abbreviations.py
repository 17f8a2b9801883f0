"""Words after which the reference tokenizer keeps the full stop ("Mr.", "St.", "etc."), found by asking it."""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# These keep it even before a single letter without a space ("Inc.b").
FIRM = _set(
    # months, days
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri "
    # states
    "ala ariz calif colo conn ct dak fla ga ind kan kans ky md mich minn mo mont neb nev okla penn tenn va vt wis wisc "
    "wyo "
    # companies and places
    "inc co cos corp pty ptys ppty pptys pte ptes ppte pptes ltd plc rt bancorp bhd assn univ intl sys bldg blvd rd "
    # numbers and the rest
    "tel est ext sq jr sr bros esq etc al seq"
)
# These are common words too, so only the spelling with a capital counts. Further letters may be of either case.
FIRM_CAPITALISED = _set("az ark del ill la mass miss ore pa tex wash")
LOOSE = _set(
    # titles
    "mr mrs ms dr drs prof profs sen sens rep reps atty attys lt col gen messrs gov govs adm rev maj sgt cpl pvt capt "
    "st ste ave pres lieut hon brig comdr cmdr pfc spc supt supts det mt ft adj adv asst assoc ens insp mlle mme msgr "
    # companies and the rest
    "sfc invt elec natl mfg mtg dept vs alex wm jos cie cf treas ph"
)
BEFORE_A_NUMBER = _set("art ca fig figs no nos op pp prop")
# "platform K. The" is a letter that ends a sentence, "K. Jones" an initial.
SENTENCE_STARTS = _set(
    "a about according additionally after an as at but earlier he her here however if in it last many more mr. ms. now "
    "once one other our she since so some such that the their then there these they this we what when while yet "
    "you"
)
FULL_STOP_KEPT = FIRM | FIRM_CAPITALISED | LOOSE | BEFORE_A_NUMBER
