"""What people ask for: tables answered beside everything released, and outputs made elsewhere checked."""

from diskret.model.lazy import names_of

__getattr__, __dir__ = names_of(
    __name__,
    {
        "answering": "Answer answer",
        "beside": "House",
        "checking": "OutputCheck check_outputs",
        "desk": "Desk",
        "output_rules": "OutputRules",
        "outputs": "Extreme Finding Group Model Percentile Picture Statistic TableOutput",
        "query": "Query",
        "records": "Records",
        "shown": "Shown",
    },
)
