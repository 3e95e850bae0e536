// A live figure in the browser: plotly's own widget, whose program of some megabytes comes once for all figures.
//
// plotly sends the program with every figure, and anywidget gives up on a model that is not ready after two
// seconds: on a busy machine figures never came, or missed what they were told. Here a model is ready at once.
// What it is told before the program is there is kept, and told again.

const TOLD = [
    "addTraces", "deleteTraces", "moveTraces", "restyle", "relayout", "update", "animate",
    "removeLayoutProps", "removeTraceProps",
].map(name => `_py2js_${name}`);

const programs = (globalThis.workbenchPrograms ??= new Map());

function program(model) {
    const id = model.get("_program").slice("IPY_MODEL_".length);
    if (!programs.has(id)) programs.set(id, fetched(model.widget_manager, id));
    return programs.get(id);
}

async function fetched(manager, id) {
    const text = (await carrier(manager, id)).get("value");
    const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    const { default: widget, FigureView } = await import(url);
    makeDeafOnceRemoved(FigureView.prototype);
    return widget;
}

// A page that is loaded anew brings its models back in any order.
async function carrier(manager, id) {
    for (;;) {
        try {
            return await manager.get_model(id);
        } catch {
            await new Promise(resolve => setTimeout(resolve, 100));
        }
    }
}

// plotly's views go on listening when they are no longer on the page, fail on a figure that is gone, and so keep
// the update from the views that come after them: a figure displayed anew, as when its cell is run again, would
// stand still.
function makeDeafOnceRemoved(view) {
    for (const name of Object.getOwnPropertyNames(view).filter(name => name.startsWith("do_"))) {
        const method = view[name];
        view[name] = function () { if (!this.removed) method.call(this); };
    }
    const remove = view.remove;
    view.remove = function () { this.removed = true; remove.call(this); };
}

// The model as plotly sees it: whatever it listens for can be told again.
function retold(model) {
    const listeners = new Map();
    let told = null;
    return {
        get: name => told?.name === name ? told.value : model.get(name),
        set: (name, value) => model.set(name, value),
        save_changes: () => model.save_changes(),
        on(event, callback) {
            listeners.set(event, [...listeners.get(event) ?? [], callback]);
            model.on(event, callback);
        },
        tell(message) {
            told = message;
            for (const callback of listeners.get(`change:${message.name}`) ?? []) callback();
            told = null;
        },
    };
}

export default () => {
    let figure;
    return {
        initialize({ model }) {
            const early = [];
            const noting = TOLD.map(name => [`change:${name}`, () => early.push({ name, value: model.get(name) })]);
            for (const [event, note] of noting) model.on(event, note);
            const ready = new Promise(resolve => setTimeout(resolve, 0)); // the model first, the program then
            figure = ready.then(() => program(model)).then(widget => {
                for (const [event, note] of noting) model.off(event, note);
                const listening = retold(model);
                const plotly = widget();
                plotly.initialize({ model: listening });
                early.forEach(listening.tell);
                return plotly;
            });
        },
        render({ el }) {
            let remove = null, removed = false;
            figure.then(
                plotly => { if (!removed) remove = plotly.render({ el }); },
                error => { el.textContent = `The figure cannot be drawn: ${error.message}. Load the page anew.`; },
            );
            return () => { removed = true; remove?.(); };
        },
    };
};
