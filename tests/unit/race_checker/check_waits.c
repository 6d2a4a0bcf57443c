/*
 * check_waits.c - every op that waits for, tests or posts to a barrier, an mbarrier or a semaphore,
 * put through the questions that all of its kind must answer.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ops come from the tables, not by name: a new one is asked what its columns (sync.def) and its
 * attributes say that it is to be asked. A question is the body of a kernel with the op's statement
 * put in, and what has to come out of it, under every schedule and timing. Operands are guessed
 * from their letters (add_sample): where no guess fits, the test fails and says so.
 */
#include "tests/tests.h"
#include "tests/unit/support/run_kernel.h"
#include "wait_questions.h"

#include "grout-internal/race.h"

#include <ctype.h>
#include <inttypes.h>

enum { SUBJECT_COUNT = GROUT_OP_COUNT * FACE_COUNT };

/* An op on one of the objects that it takes. */
typedef struct subject {
    const grout_op_info *info;
    const grout_sync_info *sync;
    const face *face;
} subject;

/*
 * False: the op does not take this object, or begins or ends its life, or starts an engine. What
 * posts and waits in one has no questions yet.
 */
static bool get_subject(int index, subject *out) {
    enum { NOT_ASKED = MODE(STARTS) | MODE(MAKES) | MODE(ENDS) };
    grout_opcode opcode = (grout_opcode)(index / FACE_COUNT);
    out->face = &FACES[index % FACE_COUNT];
    out->sync = opcode == 0 ? NULL : grout_op_get_sync(opcode);
    out->info = out->sync == NULL ? NULL : grout_op_get_info(opcode);
    if (out->sync == NULL || (out->face->objects >> out->sync->object & 1) == 0 ||
        (NOT_ASKED >> out->sync->mode & 1) != 0) {
        return false;
    }
    if (grout_op_get_generation(opcode) == GROUT_GENERATION_BLACKWELL) {
        return false; /* the kernels here are for Hopper: tests/behaviour/tcgen05 asks */
    }
    ck_assert_msg((ASKED >> out->sync->mode & 1) != 0,
                  "%s: its MODE has no questions: add some to wait_questions.h", out->info->text);
    return true;
}

static bool fits(uint32_t columns, uint32_t value) {
    return columns == 0 || (columns >> value & 1) != 0;
}

static bool is_asked(const question *it, const subject *of) {
    return fits(it->faces, (uint32_t)(of->face - FACES)) && fits(it->modes, of->sync->mode) &&
           fits(it->reaches, of->sync->reach) && fits(it->comes, of->sync->arrival) &&
           (of->info->attrs & it->attrs) == it->attrs;
}

/* ---- kernels -----------------------------------------------------------------------------------
 */

/* What a statement is to say. */
typedef struct saying {
    const char *object; /* %o[0] */
    char phase[8];      /* that is meant, as an expression */
    uint32_t arrivals;
    const char *written;
    uint32_t undefined; /* number of the operand that nobody wrote; UINT32_MAX: none */
} saying;

static bool looks(const subject *of) {
    return (LOOKS >> of->sync->mode & 1) != 0;
}

/*
 * Adds the operand for a letter, in a statement that means this phase; nothing if there is none. A
 * new kind of operand is put in here, so that the statement does what the question says.
 */
static void add_sample(char letter, const subject *of, const saying *it, grout_text *out) {
    uint8_t kind = grout_letter_get_info(letter)->kind;
    bool is_semaphore = of->sync->object == GROUT_SYNC_OBJECT_SEMAPHORE;
    if (kind == GROUT_LETTER_BARRIER || kind == GROUT_LETTER_SEMAPHORE) {
        grout_text_add(out, "%s", it->object);
    } else if (letter == 'p') {
        grout_text_add(out, "(and %s, 1)", it->phase);
    } else if (kind == GROUT_LETTER_INTEGER && is_semaphore) { /* units */
        grout_text_add(out, "%" PRIu32, looks(of) ? it->arrivals : 1);
    } else if (kind == GROUT_LETTER_INTEGER && looks(of)) { /* the number of the phase */
        grout_text_add(out, "%s", it->phase);
    } else if (kind == GROUT_LETTER_INTEGER) { /* bytes to expect: none */
        grout_text_add(out, "0");
    }
}

static void add_operands(const subject *of, const saying *it, grout_text *out) {
    for (uint32_t i = 0; of->info->operands[i] != '\0'; i++) {
        size_t size;
        grout_text_add(out, "%s", i == 0 ? " " : ", ");
        size = out->size;
        if (i == it->undefined) {
            grout_text_add(out, "%%u");
        } else {
            add_sample(of->info->operands[i], of, it, out);
        }
        ck_assert_msg(out->size > size,
                      "%s: no sample for its operand '%c': say in add_sample of check_waits.c what "
                      "it has to be in a statement that means phase %s of %s",
                      of->info->text, of->info->operands[i], it->phase, it->object);
    }
}

/* A test is asked again and again. A result has a name of its own: q and where it stands. */
static void add_statement(const subject *of, const saying *it, grout_text *out) {
    bool is_test = of->sync->mode == GROUT_SYNC_MODE_TESTS;
    bool is_truth = of->info->rule == GROUT_RULE_TRUTH;
    size_t name = out->size;
    ck_assert_msg(!is_test || is_truth || of->info->rule == GROUT_RULE_INTEGER,
                  "%s: say in add_statement of check_waits.c when its result means that it is over",
                  of->info->text);
    grout_text_add(out, "%s", is_test ? "while {\n" : "");
    if (of->info->results == 1) {
        grout_text_add(out, "%%q%zu = ", name);
    }
    grout_text_add(out, "%s", of->info->text);
    add_operands(of, it, out);
    grout_text_add(out, "%s\n", it->written);
    if (is_test && is_truth) {
        grout_text_add(out, "cond (not %%q%zu)\n} do {\n}\n", name);
    } else if (is_test) {
        grout_text_add(out, "cond (lt %%q%zu, %" PRIu32 ")\n} do {\n}\n", name, it->arrivals);
    }
}

/* A text of a face. */
static void add_form(const char *form, const char *element, const saying *it, grout_text *out) {
    for (const char *at = form; *at != '\0'; at++) {
        if (*at != '#') {
            grout_text_add_bytes(out, at, 1);
            continue;
        }
        switch (*++at) {
        case 'n':
            grout_text_add(out, "%" PRIu32, it->arrivals);
            break;
        case 'e':
            grout_text_add(out, "%s", element);
            break;
        default:
            grout_text_add(out, "%s", it->phase);
        }
    }
    grout_text_add(out, "\n");
}

/* The phase after a word. */
static void read_phase(char phase, saying *it) {
    const char text[] = {'%', phase, '\0'};
    snprintf(it->phase, sizeof it->phase, "%s", isdigit((unsigned char)phase) ? text + 1 : text);
}

/* One word of a body, without its '$'; where it ends. */
static const char *add_word(const char *word, const subject *of, saying *it, grout_text *out) {
    static const char *const objects[] = {
        ['X'] = "%o[0]", ['Y'] = "%o[1]", ['R'] = "%o.cluster(1)[0]", ['Z'] = "%o[%u]"};
    switch (*word) {
    case 'D':
        add_form(of->face->declare, "", it, out);
        return word + 1;
    case 'C':
        add_form(of->face->declare_in_cluster, "", it, out);
        return word + 1;
    case 'I':
        add_form(of->face->init, "", it, out);
        return word + 1;
    case 'P':
    case 'Q':
        add_form(of->face->post, *word == 'P' ? "0" : "1", it, out);
        return word + 1;
    case 'W':
    case 'V':
        read_phase(word[1], it);
        add_form(of->face->wait, *word == 'W' ? "0" : "1", it, out);
        return word + 2;
    default:
        read_phase(word[1], it);
        it->object = objects[(unsigned char)*word];
        add_statement(of, it, out);
        return word + 2;
    }
}

/* The kernel of a body, with the op's statement in it. */
static void add_kernel(const question *it, const subject *of, uint32_t undefined, grout_text *out) {
    saying words = {.arrivals = it->arrivals,
                    .written = it->written == NULL ? "" : it->written,
                    .undefined = undefined};
    grout_text_add(out,
                   "kernel @k(%%x: in gmem f32[4, 16], %%y: inout gmem f32[4, 16]) %s "
                   "threads(t = 2) {\n"
                   "scratch %%d : smem f32[4]\n"
                   "scratch %%s : smem f32[16]\n"
                   "scratch %%z : smem i32[1]\n"
                   "%%t = axis_index t\n",
                   it->cluster == NULL ? "" : it->cluster);
    for (const char *at = it->body; *at != '\0';) {
        if (*at == '$') {
            at = add_word(at + 1, of, &words, out);
        } else {
            grout_text_add_bytes(out, at++, 1);
        }
    }
    grout_text_add(out, "}\n");
}

/* ---- runs --------------------------------------------------------------------------------------
 */

enum { ELEMENTS = 64 };

/* What came out of a run. */
typedef struct answer {
    grout_run_status status;
    grout_text codes;  /* each once, in the order of diag.def */
    grout_text report; /* of all findings */
    float result;
    uint32_t alternative;          /* of those that the question expects */
    uint32_t waits, tests, falses; /* events of the op: it has waited, by a test; not yet */
} answer;

static void note_findings(const grout_checker *checker, const grout_diags *diags, answer *out) {
    bool has[GROUT_DIAG_COUNT] = {false};
    const grout_render_options options = {0};
    for (uint32_t i = 0; i < grout_checker_get_count(checker); i++) {
        const grout_finding *finding = grout_checker_get_finding(checker, i);
        has[finding->code] = true;
        grout_diag_render(finding->diag, diags, &options, &out->report);
    }
    for (uint32_t i = 0; i < GROUT_DIAG_COUNT; i++) {
        if (has[i]) {
            grout_text_add(&out->codes, "%s%s", out->codes.size == 0 ? "" : ",",
                           grout_diag_get((grout_diag_code)i)->text);
        }
    }
}

/* The statement whose events an observer counts. */
typedef struct counting {
    const grout_module *module;
    const subject *of;
    answer *answer;
} counting;

static bool count_event(void *self, const grout_event *event) {
    const counting *it = self;
    const grout_op *op = grout_module_get_op(it->module, event->origin.op);
    if (grout_op_get_info((grout_opcode)op->opcode) == it->of->info) {
        bool is_wait = event->kind == GROUT_EVENT_WAIT;
        it->answer->waits += is_wait;
        it->answer->tests += is_wait && event->u.wait.is_test;
        it->answer->falses += !is_wait;
    }
    return true;
}

static void launch(const grout_module *module, const struct run_variant *variant, const subject *of,
                   grout_diags *diags, answer *out) {
    float x[ELEMENTS], y[ELEMENTS] = {0};
    run_fill(GROUT_DTYPE_F32, x, sizeof x, 0);
    const grout_argument arguments[] = {{.data = x, .size = sizeof x},
                                        {.data = y, .size = sizeof y}};
    grout_checker *checker = grout_checker_new(NULL, diags);
    counting counts = {module, of, out};
    const grout_observer counter = {.self = &counts,
                                    .interest = UINT64_C(1) << GROUT_EVENT_WAIT |
                                                UINT64_C(1) << GROUT_EVENT_TEST_FALSE,
                                    .event = count_event};
    const grout_launch what = {.module = module,
                               .kernel = 1,
                               .arguments = arguments,
                               .argument_count = 2,
                               .schedule = variant->schedule,
                               .timing = variant->timing,
                               .seed = variant->seed,
                               .max_steps = 10000,
                               .track_undefined = true,
                               .observers = {grout_checker_get_observer(checker), &counter},
                               .observer_count = 2};
    grout_machine *machine = grout_machine_new(&what, diags);
    out->status = machine == NULL ? GROUT_RUN_FAILED : grout_machine_run(machine, 0, diags);
    out->result = y[0];
    note_findings(checker, diags, out);
    grout_machine_free(machine);
    grout_checker_free(checker);
}

/* What diags say goes into the report too: why a kernel was refused. */
static answer run_text(const char *text, const struct run_variant *variant, const subject *of) {
    answer out = {.status = GROUT_RUN_FAILED};
    grout_diags *diags = grout_diags_new();
    const grout_render_options options = {0};
    grout_module *symbolic = grout_parse("k.grout", text, strlen(text), diags);
    grout_module *module = symbolic == NULL ? NULL : grout_module_bind(symbolic, NULL, 0, diags);
    grout_text_add(&out.codes, "%s", "");
    grout_text_add(&out.report, "%s", "");
    if (module != NULL && grout_verify(module, GROUT_ARCH_ANY, diags)) {
        launch(module, variant, of, diags, &out);
    }
    if (out.status == GROUT_RUN_FAILED) {
        grout_diags_render(diags, &options, &out.report);
    }
    grout_module_free(module);
    grout_module_free(symbolic);
    grout_diags_free(diags);
    return out;
}

static void free_answer(answer *it) {
    grout_text_free(&it->codes);
    grout_text_free(&it->report);
}

enum { PART_SIZE = 256, LINE_SIZE = 1024 };

/* The next part of a list, up to the separator or the end. False: there is none. */
static bool take_part(const char **rest, char separator, char *out) {
    const char ends[] = {separator, '\0'};
    size_t size = strcspn(*rest, ends);
    bool is_there = **rest != '\0';
    snprintf(out, PART_SIZE, "%.*s", (int)size, *rest);
    *rest += (*rest)[size] == '\0' ? size : size + 1;
    return is_there;
}

/* Whether a line of the report has all of these words. */
static bool has_line(const char *report, const char *words) {
    bool is_found = words[0] == '\0';
    char line[LINE_SIZE], word[PART_SIZE];
    while (*report != '\0' && !is_found) {
        const char *rest = words;
        size_t size = strcspn(report, "\n");
        snprintf(line, sizeof line, "%.*s", (int)size, report);
        for (is_found = true; is_found && take_part(&rest, '*', word);) {
            is_found = strstr(line, word) != NULL;
        }
        report += report[size] == '\0' ? size : size + 1;
    }
    return is_found;
}

/* Finds which of the expected answers it is. What is wrong if it is none; NULL: nothing. */
static const char *find_alternative(const question *it, answer *of) {
    const char *codes = it->codes == NULL ? "" : it->codes, *words = it->words;
    const char *fault = "the findings are others";
    char code[PART_SIZE], word[PART_SIZE] = "";
    of->alternative = 0;
    do {
        (void)take_part(&codes, '|', code);
        (void)(words != NULL && take_part(&words, '|', word));
        if (it->is_part ? strstr(of->codes.data, code) != NULL
                        : strcmp(of->codes.data, code) == 0) {
            if (has_line(of->report.data, word)) {
                return NULL;
            }
            fault = "no line of the report has the words";
        }
        of->alternative++;
    } while (*codes != '\0');
    return fault;
}

/* A number like 4294967295 counts nothing that a small kernel has: it was -1, or is garbled. */
static bool has_huge_number(const char *text) {
    while (*text != '\0') {
        bool is_negative = *text == '-'; /* memory that nobody wrote has such values */
        text += is_negative;
        size_t digits = strspn(text, "0123456789");
        if (digits >= 10 && !is_negative) {
            return true;
        }
        text += digits > 0 ? digits : !is_negative;
    }
    return false;
}

/* Whether a test that was true is reported, and one that was false, before it is given up. */
static bool is_told(const subject *of, const answer *it) {
    bool is_test = of->sync->mode == GROUT_SYNC_MODE_TESTS;
    bool is_barrier = of->face->objects != OBJECT(SEMAPHORE);
    return it->tests == (is_test ? it->waits : 0) &&
           (!is_test || !is_barrier || it->status != GROUT_RUN_DEADLOCK || it->falses > 0);
}

/* What is wrong with an answer; NULL: nothing. */
static const char *find_fault(const question *it, const subject *of, answer *found) {
    const char *fault = find_alternative(it, found);
    if (found->status == GROUT_RUN_FAILED) {
        return "the kernel is refused";
    }
    if (fault != NULL) {
        return fault;
    }
    if (it->result != NOTHING && found->status != GROUT_RUN_DONE) {
        return "it has not come to its end";
    }
    if (it->result != NOTHING && found->result != (float)it->result) {
        return "%y[0, 0] is another";
    }
    if (has_huge_number(found->report.data)) {
        return "the report has a number that nothing counts";
    }
    return is_told(of, found) ? NULL : "its events do not say that it tests";
}

static void add_fault(const question *it, const subject *of, const answer *found, const char *fault,
                      grout_text *out) {
    grout_text_add(out, "\n%s on %s: %s: %s\n  expected: '%s', \"%s\"", of->info->text,
                   of->face->name, it->name, fault, it->codes == NULL ? "" : it->codes,
                   it->words == NULL ? "" : it->words);
    if (it->result != NOTHING) {
        grout_text_add(out, ", result %g", it->result);
    }
    grout_text_add(out, "\n  found: '%s', result %g\n%s", found->codes.data, (double)found->result,
                   found->report.data);
}

/* Asks under every schedule and timing, until one has a fault. */
static void ask(const question *it, const subject *of, uint32_t undefined, grout_text *faults) {
    grout_text text = {0};
    const char *fault = NULL;
    uint32_t alternative = UINT32_MAX;
    add_kernel(it, of, undefined, &text);
    for (int i = 0; i < RUN_VARIANTS && fault == NULL; i++) {
        if (it->is_fair && run_variants[i].schedule != GROUT_SCHEDULE_FAIR) {
            continue;
        }
        answer found = run_text(text.data, &run_variants[i], of);
        fault = find_fault(it, of, &found);
        if (fault == NULL && alternative != UINT32_MAX && alternative != found.alternative) {
            fault = "the schedule decides what is found";
        }
        alternative = found.alternative;
        if (fault != NULL) {
            add_fault(it, of, &found, fault, faults);
            grout_text_add(faults, "  in run %d of this kernel (see add_sample for operands):\n%s",
                           i, text.data);
        }
        free_answer(&found);
    }
    grout_text_free(&text);
}

/* ---- tests -------------------------------------------------------------------------------------
 */

TEST_EACH(an_op_answers_as_its_kind_does, SUBJECT_COUNT) {
    subject of;
    grout_text faults = {0};
    if (!get_subject(_i, &of)) {
        return;
    }
    for (size_t i = 0; i < QUESTION_COUNT; i++) {
        if (is_asked(&QUESTIONS[i], &of)) {
            ask(&QUESTIONS[i], &of, UINT32_MAX, &faults);
        }
    }
    ck_assert_msg(faults.size == 0, "%.3500s", faults.data); /* Check takes no longer ones */
    grout_text_free(&faults);
}

/* Each scalar that is computed may be one that nobody wrote. */
TEST_EACH(an_operand_that_nobody_wrote_is_found, SUBJECT_COUNT) {
    static const question QUESTION = {.name = "an operand that nobody wrote",
                                      .arrivals = 1,
                                      .body = HAND_OVER "%u = load %z[0]\n $P\n $X0\n }\n",
                                      .codes = "uninitialised-read",
                                      .is_part = true,
                                      .result = NOTHING};
    subject of;
    grout_text faults = {0};
    if (!get_subject(_i, &of)) {
        return;
    }
    for (uint32_t i = 0; of.info->operands[i] != '\0'; i++) {
        uint8_t kind = grout_letter_get_info(of.info->operands[i])->kind;
        if (kind == GROUT_LETTER_INTEGER || kind == GROUT_LETTER_SCALAR ||
            kind == GROUT_LETTER_VALUE) {
            ask(&QUESTION, &of, i, &faults);
        }
    }
    ck_assert_msg(faults.size == 0, "%.3500s", faults.data); /* Check takes no longer ones */
    grout_text_free(&faults);
}
