import { COURTESY_WORDS, FUNCTION_WORDS } from './grammar.ts';
import { SIDES_OF } from './opposites.ts';
import { SCOPE_OF } from './scope.ts';
import { ALIAS_OF } from './synonyms.ts';

/** Common words that no other lexicon has. Origin: written for this project from general knowledge of English. */
const COMMON = new Set(
  `able accident account across act action active activity actor actress actual add adult advance advert affect affair afford afraid age
agency agent ago agree air alarm album alive alone along already although amazing amendment analysis angle animal anniversary announce
anxiety apart apology apple arm army around art article artist asleep asset assign atom attack attend attitude attorney audience audit
aunt author authority autumn award aware baby back bacon bacteria bag bake ball balloon banana band bar barrel base basic basis basket bath battery
battle beach bean bear beard beat bed bedroom bee beef beer behave behaviour bell belong belt bench bet bible bid bill bird birthday bit
bite bitter black blade blame blank blanket blind blood blow blue board boat body boil boiler bomb bond bone bonus boot border bored born borrow
bottle bottom bowl box boy brain brake branch brand brave bread breakfast breast breath breathe brick bridge brief bright brother brown brush
budget bug builder bulb bullet bunch burn burst bury butter button cabin cable cake calendar call calm camera camp campaign campus cancer candidate
candle candy capacity captain carbon care career careful carpet carrot carry case cash cast castle catch category cause ceiling celebrate
cell cent centre century cereal certain certificate chain chair chairman challenge chance channel chapter character charger chart chase chat
cheese chef chemical chest chicken childhood chip chocolate choice church cigarette cinema circle citizen civil claim class classic clause clear
climate climb clock closet cloth clothes cloud club clue coast coat coffee coin collection column comb comedy comfort comfortable comma comment
commit common communicate communication community compensation competition complex component computer concept concern concert condition
confidence confuse connection consider constant construction contain content contest context continue contribute contribution control
conversation cook cooking cool cooperate copper copy corn corner cough council count counter couple courage course court cousin cover cow crack
craft cream creature credit crew crime criminal crisis critic crop cross crowd crown cry crystal cultural culture cup cupboard currency current
curve cushion custom customs cut cyber cycle daily damage dance dark data date daughter day deal death debate debt decade decide decision decimal default defeat
defence degree delay delicious delight dentist department deposit depression depth desert design desk desperate dessert destination detect determine
develop developer development device diabetes diagnosis diamond diet dig digital dinner direct direction director disaster disc discuss dish display
distance district divorce dog dollar door dose double doubt draft drama drawer dream dress drill drive driver drop dry due dust duty eager ear
early earn earth earthquake east economy edge editor education effective efficient effort egg election electric electricity electron elephant
email emergency emotion empire empty encounter encourage enemy energy engine engineer enjoy enter entertain enthusiasm entrance envelope
environment equal equipment escape essay estate estimate event evidence evil evolution exact exam excite exercise exist exit expect expedition
experience experiment expert explore export express expression extend external eye fabric face facility fact factor factory faculty fail fair
faith familiar family fan fantasy farm farmer fashion fat fate favourite fear feed feedback feel feeling fence festival fibre fiction
field fight filter final finance financial finger fire fish fit fitness fix flag flame flavour flaw flight float flood floor flour flow flower flu
fluid focus fog fold folk follow foot football force foreign forest format formula fortune forum forward foundation fraction frame framework fraud
freedom freezer freight french frequency fresh friday fridge friend friendly frog front fruit fuel fun funny furniture future gain galaxy gallery game
gap garage garden garlic gate gather gender gene genetic genius gentle geography giant gift girl girlfriend glad glass global glove glue goal
goat god gold golf good government grade graduate grain grammar grand grandmother grape graph grass gravity green greet grey grocery ground group
guarantee guard guess guest guilty guitar gun gym habit hair half hall hammer hand handle happiness harbour hat health healthy heart heat heaven heavy
height helicopter hero hidden hill hip hire history hit hobby hole honest honey honour hope horn horror horse host hour household human humour hunger hunt hunter
husband ice icon idea image imagine immune import impress impression impressive inch incident index indicate individual industry infection inflation
initial injury ink inner input insect inside insist install institute instrument intelligence intend intention interest interesting internal
international interview introduction invest investment invite iron island jacket jail jam jealous jeans jet jewellery joke journal judge juice jump
jungle jury justice kick kidney king kiss kitchen knee knife knock knot lab label labour lack ladder lake lamp land landscape lane laptop laser last
late launch laugh laundry lawn lawyer layer lazy leaf leak leap leather lecture left leg lemon lend lesson letter level library licence lie life lift
light like line lion lip liquid literature live liver load lobby local location log logic logo lonely loop lorry loud lover luck lucky lunch lung machine
magazine magic mail maintenance male mall mammal manage management map marble margin mark market marketing marriage married marry mask mass match material
matter mayor measure meat mechanic media medical member memory mental menu mess message metal meter microwave middle midnight migration mile military
milk mind mine mineral minister mirror miss mission mistake mix mixture mobile mode model modern moment monday money month mood moon moral morning
mortality motion motor mountain mouse mouth movement mud muscle museum music musician mystery nail name narrow native natural nature neck needle negative
neighbour nerve nervous network neutral news newspaper night noise normal north nose note notice notification novel nuclear nurse nut ocean office officer
official oil onion opera operate operation operator opinion opportunity option orange orbit organ organisation origin original outdoor output oven overdraft overdrawn oxygen pack packet page
paint painting pair pan panel panic paper paragraph parent park parking parliament party passage passenger passion passport past pasta patch path
patience patient pattern pause peace peak peanut pen penalty pencil pension people pepper perfect perfume period permanent person personal personality pet phase
philosophy photograph phrase physical physics piano picnic pie pig pilot pin pipe pitch pizza place plain planet plant plastic plate platform play player pleasure plot plug plus
pocket poem poet poetry point poison pole police policy politician politics pollution pool pop popular port position positive possess possession post potato pound
powder power practical practice prayer prediction prefer pregnant prepare prescription present press pressure prevent priest prince princess print printer prison
privacy private prize process product production profession professional professor profit program progress project promise promote pronounce pronunciation proof
proper property propose protein protest proud prove public pull pump punch punish pupil puppy pure purple push puzzle quality quarter queen quiet quote race radiation radio rain
range rank rare rat reach react reaction reality realise recipe reference reflect reform refrigerator refuge regret regular relation relationship relative release relevant relief religion rely remain
remind remote rent replace replacement report reporter representative reputation rescue research reserve reservation resort resource respect responsibility responsible
reveal revenue review revolution reward rhythm rice ride ring risk river robot rock role roll roof root rope rose rough round route routine row royal rubber rude ruin
rush sad sail salad sale salt sand sandwich satellite satisfy sauce sausage save scale scan scene science scientist scissors scope score scratch scream screw sea season seat second
secret section sector seed select self sense sensitive sentence separate series serious serve service session settle setting sew sex shade shadow shake shame shape share shark sharp sheep sheet shelf
shell shelter shift shine ship shirt shock shoe shoot shopping shore shot shoulder shout shower shy side sight signal signature significant silence silk silver sing singer sink sister site
situation size skill skin skirt sky sleep sleeve slice slide slip smell smile smoke smooth snake snow soap social society sock sofa soft software soil soldier solid solution solve soul sound
soup source south space speaker special species specific speech speed spell spelling spice spider spirit spoon spot spray spread spring square squirrel stadium staff stage stain stair stamp stand standard
star start statement station statue status steam steel stem stick stomach stone storage storm story strategy stream strength stress stretch strike string strip stroke strong structure struggle stuff
stupid style subject substance success sugar suggest suit summary summer sun sunday supermarket supplement surface surgery surprise survey suspect sweat sweater sweet swim swing switch symbol sympathy system
table tail talent talk tank tap target task taste taxi tea tear technical technology teen teenager teeth temple tennis tension tent term terrible text thank theatre theme theory therapy thick thief thin thirsty thought thread threat
throat thumb thunder tide tie tiger timer tissue title toast today toe toilet tomato tongue tonight tool tooth topic total touch tour tourist tower toy trace track trade tradition traffic translation transport trap treasure tree
trend trial triangle tribe trick truck trust truth tube tune tunnel turn tutor twin typical tyre umbrella uncle uniform union unique unit universe university update upset urban usual vacuum valley value valve van variety vegan
vegetable vegetarian vein version victim video village violence violin virus visa vision visitor vitamin vocabulary voice voicemail volcano volume volunteer vote voter waist wait waiter wake walk wall wallet war wardrobe warn
warning warranty wave weak weapon wedding week weekend weight welcome west wheel wheelchair whisper white width wife wild wind wine wing winner winter wire wisdom wish wolf woman wonder wood wool work workshop world worm worry worth wound wrap
wrist yard yellow yesterday yoga young youth zero zoo`.split(/\s+/u),
);

/** True for a word that everybody knows: what is spelled nearly like it and isn't itself known is a slip. */
export function isKnownWord(word: string): boolean {
  if (isListed(word)) return true;
  if (word.length < 4) return false;
  if (word.endsWith('s') && (isListed(word.slice(0, -1)) || (word.endsWith('es') && isListed(word.slice(0, -2)))))
    return true;
  if (word.endsWith('ies') && isListed(`${word.slice(0, -3)}y`)) return true;
  if (word.endsWith('ed')) return isVerb(word.slice(0, -2)) || isListed(word.slice(0, -1));
  if (word.endsWith('ing')) return isVerb(word.slice(0, -3)) || isListed(`${word.slice(0, -3)}e`);
  if (word.endsWith('er')) return isVerb(word.slice(0, -2)) || isListed(word.slice(0, -1));
  return word.endsWith('ly') && isListed(word.slice(0, -2));
}

function isVerb(base: string): boolean {
  return isListed(base) || (base.length > 3 && base.at(-1) === base.at(-2) && isListed(base.slice(0, -1)));
}

function isListed(word: string): boolean {
  return (
    COMMON.has(word) ||
    ALIAS_OF.has(word) ||
    FUNCTION_WORDS.has(word) ||
    COURTESY_WORDS.has(word) ||
    SIDES_OF.has(word) ||
    SCOPE_OF.has(word)
  );
}
