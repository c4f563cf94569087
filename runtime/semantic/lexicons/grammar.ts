function words(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/u));
}

/** Words that carry grammar, not subject. Origin of both lists: written for this project from general knowledge of English. */
export const FUNCTION_WORDS = words(
  `a an the this that these those is are was were be been being am do does did doing done have has had having will would
  shall should can could may might must i me my mine myself you your yours yourself we us our ours they them their theirs
  he him his she her hers it its of to in on at by for with from as into onto about and or but so if then than there here
  what which how when where who why whom whose also too very just there's let up out over under between through during
  per via because while since until whether any some such own same other another one ones got get gets getting go goes
  going make makes making made possible way ways im ive id ill youre its thats whats wheres hows whos theres cause
  need needs needed want wants wanted able anyone someone somebody anybody thing things something anything now still
  currently exactly without within across after before against among around off down not no nor never wont cannot`,
);

/** Courtesy, hedging and urgency: they change a text's tone, not its answer. */
export const COURTESY_WORDS = words(
  `please pls plz thanks thank thx ty ta cheers kindly kind regards best hi hello hey hiya dear sir madam team folks guys
  everyone sorry excuse pardon bother trouble urgently urgent asap quick quickly really actually basically simply maybe
  perhaps wondering wonder curious know tell explain say ask asking question like love hope help ok okay hm hmm um uh well
  oh ah yes yeah yep lot lots lovely much many advance appreciate appreciated grateful hurry answer again greetings
  sincerely ahead give show describe wanna gonna gotta pretty someone thankyou bye mate quickly guidance`,
);

/** Question words that ask for different things; `what` and `which` paraphrase too freely to be told from them. */
export const STRONG_QUESTION_WORDS = words('who when where why how');
