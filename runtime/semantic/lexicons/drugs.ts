/**
 * Generic names of medicines. Origin: written for this project from general knowledge; international nonproprietary names are facts.
 */
const GENERICS = `
abacavir abatacept abciximab acamprosate acarbose acebutolol aceclofenac acetaminophen acetazolamide acetohexamide acetylcysteine aciclovir acitretin adalimumab
adapalene adenosine agomelatine albendazole albuterol alemtuzumab alendronate alfentanil alfuzosin alirocumab aliskiren allopurinol almotriptan alogliptin alosetron
alprazolam alprostadil alteplase amantadine ambrisentan amikacin amiloride aminophylline amiodarone amisulpride amitriptyline amlodipine amoxapine amoxicillin
amphetamine amphotericin ampicillin anakinra anastrozole anidulafungin apixaban apomorphine apremilast aprepitant aripiprazole armodafinil asenapine
aspirin atazanavir atenolol atomoxetine atorvastatin atovaquone atracurium atropine azacitidine azathioprine azelastine azithromycin azelaic aztreonam
baclofen balsalazide baricitinib beclometasone bedaquiline belimumab benazepril bendroflumethiazide benralizumab benserazide benzocaine benzonatate benztropine betahistine
betamethasone betaxolol bethanechol bevacizumab bezafibrate bicalutamide bimatoprost bisacodyl bisoprolol bivalirudin bleomycin bortezomib bosentan botulinum brexpiprazole
brimonidine brinzolamide brivaracetam bromocriptine budesonide bumetanide bupivacaine buprenorphine bupropion buspirone busulfan butalbital
cabergoline calcipotriol calcitonin calcitriol canagliflozin candesartan capecitabine captopril carbamazepine carbidopa carbimazole carboplatin carfilzomib cariprazine carisoprodol
carmustine carvedilol caspofungin cefaclor cefadroxil cefazolin cefdinir cefepime cefixime cefotaxime cefotetan cefoxitin cefpodoxime cefprozil ceftaroline ceftazidime ceftriaxone cefuroxime
celecoxib cephalexin cefalexin certolizumab cetirizine cetrorelix cetuximab chlorambucil chloramphenicol chlordiazepoxide chlorhexidine chloroquine chlorothiazide chlorphenamine chlorpheniramine
chlorpromazine chlorpropamide chlorthalidone chlortalidone chlorzoxazone ciclosporin cilostazol cimetidine cinacalcet cinnarizine ciprofloxacin cisatracurium cisplatin citalopram cladribine clarithromycin clemastine
clindamycin clobazam clobetasol clomiphene clomifene clomipramine clonazepam clonidine clopidogrel clorazepate clotrimazole cloxacillin clozapine codeine colchicine colesevelam colestipol colestyramine cholestyramine colistin
cortisone cromolyn crotamiton cyanocobalamin cyclizine cyclobenzaprine cyclophosphamide cycloserine cyclosporine cyproheptadine cyproterone cytarabine
dabigatran dacarbazine dactinomycin dalteparin danazol dantrolene dapagliflozin dapsone daptomycin darbepoetin darifenacin darunavir dasatinib daunorubicin deferasirox deferoxamine degarelix denosumab desipramine desloratadine
desmopressin desogestrel desvenlafaxine dexamethasone dexamfetamine dexlansoprazole dexmedetomidine dexmethylphenidate dextroamphetamine dextromethorphan diazepam diazoxide diclofenac dicloxacillin dicyclomine didanosine diethylpropion diflunisal
digoxin dihydrocodeine diltiazem dimenhydrinate diphenhydramine diphenoxylate dipyridamole disopyramide disulfiram divalproex dobutamine docetaxel docusate dofetilide dolutegravir domperidone donepezil dopamine dorzolamide dosulepin doxapram
doxazosin doxepin doxorubicin doxycycline doxylamine dronedarone droperidol drospirenone dulaglutide duloxetine dupilumab dutasteride
ebastine econazole edoxaban efavirenz eletriptan eltrombopag empagliflozin emtricitabine enalapril enfuvirtide enoxaparin entacapone entecavir ephedrine epinephrine epirubicin eplerenone epoetin eprosartan eptifibatide erenumab ergocalciferol
ergotamine erlotinib ertapenem ertugliflozin erythromycin escitalopram esketamine eslicarbazepine esmolol esomeprazole estradiol eszopiclone etanercept ethacrynate ethambutol ethinylestradiol ethosuximide etidronate etodolac etomidate etonogestrel
etoposide etoricoxib etravirine everolimus evolocumab exemestane exenatide ezetimibe
famciclovir famotidine febuxostat felbamate felodipine fenofibrate fentanyl ferrous fesoterodine fexofenadine fidaxomicin filgrastim finasteride fingolimod flavoxate flecainide flucloxacillin fluconazole flucytosine fludarabine fludrocortisone
flumazenil flunarizine flunisolide fluocinolone fluocinonide fluorometholone fluorouracil fluoxetine fluphenazine flurazepam flurbiprofen flutamide fluticasone fluvastatin fluvoxamine folic fondaparinux formoterol fosamprenavir fosfomycin fosinopril fosphenytoin frovatriptan
fulvestrant furosemide fusidic gabapentin galantamine ganciclovir gatifloxacin gefitinib gemcitabine gemfibrozil gentamicin gestodene glatiramer glibenclamide gliclazide glimepiride glipizide glucagon glyburide glycopyrrolate golimumab goserelin granisetron griseofulvin guaifenesin
guanfacine haloperidol heparin hydralazine hydrochlorothiazide hydrocodone hydrocortisone hydromorphone hydroquinone hydroxychloroquine hydroxycarbamide hydroxyurea hydroxyzine hyoscine hyoscyamine
ibandronate ibuprofen ibutilide idarubicin ifosfamide iloperidone imatinib imipenem imipramine imiquimod indacaterol indapamide indinavir indometacin indomethacin infliximab insulin interferon ipilimumab ipratropium irbesartan irinotecan isoniazid isosorbide isotretinoin isradipine
itraconazole ivabradine ivermectin ixabepilone ixekizumab ketamine ketoconazole ketoprofen ketorolac ketotifen labetalol lacosamide lactulose lamivudine lamotrigine lanreotide lansoprazole lanthanum lapatinib latanoprost leflunomide lenalidomide letrozole leucovorin leuprolide levetiracetam
levobunolol levocetirizine levodopa levofloxacin levomepromazine levonorgestrel levothyroxine lidocaine linaclotide linagliptin linezolid liothyronine liraglutide lisdexamfetamine lisinopril lithium lixisenatide lofepramine lomitapide lomustine loperamide lopinavir loratadine lorazepam lormetazepam
losartan loteprednol lovastatin loxapine lurasidone macitentan magnesium maraviroc mebendazole mebeverine meclizine medroxyprogesterone mefenamic mefloquine megestrol melatonin meloxicam melphalan memantine meperidine mepolizumab mercaptopurine meropenem mesalamine mesalazine mesna metaxalone
metformin methadone methamphetamine methazolamide methenamine methimazole methocarbamol methotrexate methyldopa methylergometrine methylnaltrexone methylphenidate methylprednisolone methyltestosterone metoclopramide metolazone metoprolol metronidazole mexiletine micafungin miconazole midazolam midodrine mifepristone
miglitol milnacipran milrinone minocycline minoxidil mirabegron mirtazapine misoprostol mitomycin mitoxantrone moclobemide modafinil moexipril mometasone montelukast morphine moxifloxacin moxonidine mupirocin mycophenolate nabumetone nadolol nafcillin naloxegol naloxone naltrexone naproxen naratriptan natalizumab
nateglinide nebivolol nefazodone nefopam nelfinavir neomycin neostigmine nevirapine niacin nicardipine nicorandil nicotine nifedipine nilotinib nimodipine nisoldipine nitazoxanide nitrazepam nitrofurantoin nitroglycerin nivolumab nizatidine norepinephrine norethisterone norfloxacin nortriptyline nystatin
ocrelizumab octreotide ofatumumab ofloxacin olanzapine olaparib olmesartan olopatadine olsalazine omalizumab omeprazole ondansetron orlistat orphenadrine oseltamivir osimertinib oxaliplatin oxandrolone oxaprozin oxazepam oxcarbazepine oxybutynin oxycodone oxymetazoline oxymorphone oxytetracycline oxytocin
paclitaxel palbociclib paliperidone palivizumab palonosetron pamidronate pancuronium panitumumab pantoprazole paracetamol paricalcitol paroxetine pazopanib peginterferon pembrolizumab pemetrexed penciclovir penicillamine penicillin pentamidine pentazocine pentobarbital pentostatin pentoxifylline perampanel perindopril permethrin
perphenazine pethidine phenazopyridine phenelzine phenobarbital phenoxymethylpenicillin phentermine phentolamine phenylephrine phenytoin pilocarpine pimecrolimus pimozide pindolol pioglitazone piperacillin pirfenidone piroxicam pitavastatin pizotifen ponatinib posaconazole potassium pralidoxime pramipexole prasugrel pravastatin
praziquantel prazosin prednisolone prednisone pregabalin primaquine primidone probenecid procainamide procarbazine prochlorperazine procyclidine progesterone promethazine propafenone propantheline propofol propranolol propylthiouracil protriptyline prucalopride pseudoephedrine pyrazinamide pyridostigmine pyrimethamine
quetiapine quinapril quinidine quinine rabeprazole raloxifene raltegravir ramelteon ramipril ranitidine ranolazine rasagiline rasburicase regorafenib remdesivir remifentanil repaglinide reslizumab ribavirin ribociclib rifabutin rifampicin rifampin rifapentine rifaximin rilpivirine riluzole rimegepant risankizumab risedronate
risperidone ritonavir rituximab rivaroxaban rivastigmine rizatriptan rocuronium romosozumab ropinirole ropivacaine rosiglitazone rosuvastatin rotigotine rufinamide ruxolitinib sacubitril safinamide salbutamol salmeterol saquinavir sarilumab saxagliptin scopolamine secukinumab selegiline selexipag semaglutide senna
sertraline sevelamer sevoflurane sildenafil silodosin simeticone simvastatin sirolimus sitagliptin sofosbuvir solifenacin somatropin sorafenib sotalol spironolactone stavudine streptokinase streptomycin strontium succinylcholine sucralfate sufentanil sulfadiazine sulfamethoxazole sulfasalazine sulfisoxazole sulindac sulpiride sumatriptan
sunitinib suvorexant tacrolimus tadalafil tamoxifen tamsulosin tapentadol telmisartan temazepam temozolomide tenecteplase tenofovir terazosin terbinafine terbutaline teriflunomide teriparatide testosterone tetrabenazine tetracaine tetracycline thalidomide theophylline thiamine thioguanine thioridazine thiotepa thiothixene tiagabine
ticagrelor ticlopidine tigecycline timolol tinidazole tinzaparin tiotropium tirofiban tirzepatide tizanidine tobramycin tocilizumab tofacitinib tolazamide tolbutamide tolcapone tolterodine tolvaptan topiramate topotecan toremifene torsemide torasemide tramadol trandolapril tranexamic tranylcypromine trastuzumab travoprost trazodone
treprostinil tretinoin triamcinolone triamterene triazolam trifluoperazine trihexyphenidyl trimethoprim trimipramine triptorelin trospium upadacitinib ursodiol ustekinumab valaciclovir valacyclovir valganciclovir valproate valsartan vancomycin vardenafil varenicline vecuronium vedolizumab vemurafenib venetoclax venlafaxine
verapamil vericiguat vigabatrin vilazodone vilanterol vildagliptin vinblastine vincristine vinorelbine voriconazole vortioxetine warfarin xylometazoline zafirlukast zaleplon zanamivir zidovudine zileuton ziprasidone zoledronate zolmitriptan zolpidem zonisamide zopiclone zuclopenthixol`;

/** Names of one medicine, generic first: brand names and names of two countries. Trade marks name their owners' products. */
const SAME: readonly string[] = [
  'paracetamol acetaminophen tylenol panadol calpol',
  'salbutamol albuterol ventolin proventil',
  'ibuprofen advil nurofen motrin brufen',
  'epinephrine adrenaline epipen',
  'norepinephrine noradrenaline',
  'aciclovir acyclovir zovirax',
  'furosemide frusemide lasix',
  'glyburide glibenclamide',
  'levothyroxine synthroid thyroxine',
  'atorvastatin lipitor',
  'simvastatin zocor',
  'sertraline zoloft lustral',
  'fluoxetine prozac',
  'paroxetine paxil seroxat',
  'citalopram celexa cipramil',
  'escitalopram lexapro cipralex',
  'celecoxib celebrex',
  'omeprazole prilosec losec',
  'esomeprazole nexium',
  'diazepam valium',
  'alprazolam xanax',
  'lorazepam ativan',
  'clonazepam klonopin',
  'zolpidem ambien',
  'methylphenidate ritalin concerta',
  'warfarin coumadin',
  'apixaban eliquis',
  'rivaroxaban xarelto',
  'clopidogrel plavix',
  'metformin glucophage',
  'semaglutide ozempic wegovy',
  'liraglutide victoza',
  'tirzepatide mounjaro',
  'sildenafil viagra',
  'tadalafil cialis',
  'cetirizine zyrtec',
  'loratadine claritin',
  'fexofenadine allegra',
  'diphenhydramine benadryl',
  'montelukast singulair',
  'gabapentin neurontin',
  'pregabalin lyrica',
  'lamotrigine lamictal',
  'terbinafine lamisil',
  'levetiracetam keppra',
  'quetiapine seroquel',
  'olanzapine zyprexa',
  'risperidone risperdal',
  'aripiprazole abilify',
  'bupropion wellbutrin',
  'venlafaxine effexor',
  'duloxetine cymbalta',
  'naproxen aleve naprosyn',
  'diclofenac voltaren voltarol',
  'meperidine pethidine',
  'oxycodone oxycontin',
  'rifampicin rifampin',
  'cefalexin cephalexin keflex',
  'cyclosporine ciclosporin',
  'chlorphenamine chlorpheniramine piriton',
  'clomiphene clomifene clomid',
  'valaciclovir valacyclovir valtrex',
  'hydroxycarbamide hydroxyurea',
  'indometacin indomethacin',
  'torasemide torsemide',
  'mesalazine mesalamine',
  'colestyramine cholestyramine',
  'lidocaine lignocaine xylocaine',
  'nitroglycerin glyceryl',
  'hyoscine scopolamine',
  'amoxicillin amoxil',
  'azithromycin zithromax',
  'isotretinoin accutane roaccutane',
  'finasteride propecia proscar',
  'tramadol ultram',
  'ondansetron zofran',
  'adalimumab humira',
  'fluticasone flonase flixotide',
  'loperamide imodium',
  'famotidine pepcid',
  'ranitidine zantac',
  'amlodipine norvasc',
  'lisinopril zestril prinivil',
  'losartan cozaar',
  'metoprolol lopressor',
  'rosuvastatin crestor',
  'tamsulosin flomax',
  'chlortalidone chlorthalidone',
];

/** Name of a medicine → its generic name. */
export const DRUG_OF: ReadonlyMap<string, string> = buildDrugs();

function buildDrugs(): ReadonlyMap<string, string> {
  const drugs = new Map<string, string>();
  for (const name of GENERICS.trim().split(/\s+/u)) drugs.set(name, name);
  for (const row of SAME) {
    const names = row.split(' ');
    for (const name of names) drugs.set(name, names[0] ?? name);
  }
  return drugs;
}
