#include "headway/trace/plain_words.h"

#include <string>
#include <unordered_set>

namespace headway {
namespace {

// Words of options, of names in code, of the errors of Python and its libraries. No word that
// people take for a password, but for the few that no program can do without.
constexpr std::string_view kWords =
    "a aarch ab ablation ablations aborted about above abs absolute abstract acc accelerate "
    "acceleration access accessible account accum accumulate accumulation accuracy act "
    "action actions activation actor adadelta adagrad adam adamw adapter adapters add added "
    "adding addr address addresses adds aerial aeroplane affinity after again against age "
    "agent agents agg airplane albert albumentations alexnet alibi alive all alloc allocate "
    "allocated allocation allocator allow allowed allows allreduce alpha already also am "
    "ambiguous amd among amount amp amplitude an anchor anchors and animal animals annealing "
    "annotate annotated annotation annotations anomaly another answer answers ant any ap api "
    "app append applied applies apply apps apr archive are area aren arg argmax argmin args "
    "argument arguments argv arm array arrays article articles as asc ascending ascii assert "
    "assertion assertions assets assignment astype async asynchronously at atari attempting "
    "attention attn attr attribute attributes auc audio aug augment augmentation "
    "augmentations augmented author authors auto autoaugment autocast autotune available "
    "average averaged avg avgpool avoid away axes axis back backbone backend backends "
    "background backward bad bagging bar barrier base baseline baselines batch batched "
    "batches bayes bayesian baz bbox bboxes bce be beam beams became because bedroom been "
    "before began begin begins begun being beit below bench benchmark benchmarks bert best "
    "beta betas between bf bfloat bgr bias biases bicubic bicycle big bigger bilinear bin "
    "binary bird birds bit bits black blas bleu blob block blocking blocks blocktime bloom "
    "blue blues blur bmi bmp bn boat body bookcorpus books bookscorpus bool boolean boost "
    "boosting bos boston both bottle bottom bound bounds box boxes brain branch breakout "
    "breast brightness broadcast broadcasting broken brown bs bucket buckets budget buffer "
    "buffers build building burnin bus busy but bw by byte bytes cache cached caches "
    "california call callable callback callbacks called caller calling calls caltech camera "
    "cameras can cancer cannot capacity caption captions car cars cartpole case cased cases "
    "cast cat catboost categorical categories category cats caught causal cause caused "
    "causes ce ceil celeba cell cells central cfg cfgs chair channel channels char chat "
    "check checked checking checkpoint checkpointing checkpoints checks cheetah chest child "
    "children chinese chunk chunks church churn churned cifar city cityscapes ckpt ckptdir "
    "ckpts clamp clang class classes classification classifier classify classname clean "
    "cleaned clear clearml client clip clipnorm clipping clone close closed closes closing "
    "cls cluster clustering coco code codec col cola collective collectives color colour "
    "cols column columns com comet command commands comment comments common compact "
    "comparison compatible compile compiled compiler compiling complete completed complex "
    "compress compressed computation compute computed computing concat concatenate "
    "concurrency conda conf config configs configuration configure configured connect "
    "connected connection connections consider const constant container content context "
    "contiguous contradiction contrast contrastive contributing conv converge converged "
    "convergence convert converted converter converting convnext convnextv convolution "
    "cooldown copied copy copying core cores corpora corpus corrupt corrupted cosine could "
    "couldn count counted counter country counts cow cpp cpu cpus created creating criterion "
    "critic critical crop cropped cross crossentropy cs csv ct cublas cuda cudnn cupy "
    "current currently cursor curve curves customer cutmix cutoff cutout cv cyan cycle "
    "cyclic daemon daily damaged dashboard dask data dataframe dataloader dataloaders "
    "datamodule datanode dataset datasets date datetime day days dcgan ddp ddpg de dead "
    "debian debug debugging dec decay decode decoded decoder decoders decoding decompress "
    "deconv deep deepspeed deer default defaults defined deit delay delays delete deleted "
    "deleting delimiter delta demo demos denied dense densenet deploy deployed deploying "
    "deprecated deprecation depth desc descending deserialize destination detach detached "
    "details detect detected detection detector deterministic detokenize detr dev deviation "
    "device devices diabetes dice dict dictionary dicts did didn differ difference different "
    "differentiate differs difficult diffusers diffusion digit digits dilated dilation dim "
    "dimension dimensions dims dino dinov dir directories directory dirs disable disabled "
    "discount discriminator disk disks display dist distil distilbert distill distillation "
    "distributed div diverge diverged diverging divide divided division do doc docker docs "
    "document documentation documents does doesn dog dogs doing don done double down "
    "downgrade download downloaded downloading downloads dp dqn drive driver drivers drives "
    "drop dropout ds dtype dtypes due dumped duration during dynamic each eager early east "
    "easy edge edges editor education efficientnet eight elapsed elastic electra element "
    "elements elif else elu ema emb embarked embed embedder embedding embeddings emotion "
    "empty en enable enabled enclosing encode encoded encoder encoders encoding encodings "
    "encountered end ended ending endpoint endpoints ends endswith energy engine engines "
    "english enp ens ensemble ensure entailment entirely entity entries entropy entry "
    "enumerate env environment envs enwik eos episode episodes epoch epochs eps epsilon "
    "equal equals error errors es estimated eta etc eth eu eval evaluate evaluated "
    "evaluation evaluator event events ever every example examples exceed exceeded exceeding "
    "exceeds exception exceptions execution exhaust exhausted exists exit exited exp expand "
    "expect expected expecting expects experiment experimental experiments exponential "
    "export exported exports exps expt ext extend extension extensions external face faces "
    "fail failed failing fails failure failures falcon false far fare fashion fast faster "
    "fasterrcnn fatal fault faulthandler fc feat feats feature features feb few ffmpeg ffn "
    "fft fid field fields figure file filename filenames filepath files filter filtering "
    "filters find finding finds fine finetune finetuned finetuning finish finished finishing "
    "finite first fit fitted fitting five flag flags flan flash flatten flax flip float "
    "floor flow flower flowers focal fold folder folders folds foo food footer for force "
    "forecast forecasting foreground forest fork forkserver format formats forward found "
    "four fp fpn fps fr fraction fragmentation frame frames fraud free freeze french freq "
    "frequency fri frog from front frontend frozen fruit fruits fsdp ftrl full func function "
    "functions future gae gamma gan gate gateway gather gaussian gb gcc gelu gemma gender "
    "generate generated generates generating generation generator genre german get gets "
    "getting ghz giant gib gif gigaword give given gives giving glob global gloo glorot "
    "glucose glue go goes going gone good googlenet got gpfs gps gpt gpu gpus grad gradient "
    "gradients grads granularity graph graphs gray grayscale greedy green greens gres greys "
    "grid ground group groups growth gru guard gym had haiku half ham hand handle handled "
    "handler handles hands hard has hashable have having hdd hdfs he head header headers "
    "heads heart heavy height hello help helper helpers her here hf hidden high higher hinge "
    "hint hints hip his history hmdb holiday home hook hooks hop hopper horizontal horovod "
    "horse host hostname hosts hot hour hourly hours housing how hparam hparams html http "
    "https hub huber hue huge huggingface human humanoid humidity hundred hung hydra hyper "
    "hyperparameter hyperparameters hypothesis hz i id identify idle ids idx if ifname "
    "ignore illegal image imagenet imagenette images imdb img imgs impl implement "
    "implementation implemented import imported importing imports impossible imread imshow "
    "imu imwrite in inception income incompatible incomplete incorrect indent index indexes "
    "indices indoor inductor inf infer inference inferno infiniband infinite infinity info "
    "information inhomogeneous init initial initialization initialize initialized "
    "initializer initializers inner inplace input inputs insert install installation "
    "installed instance instances instead instruct instruction int integer integers intel "
    "interface interim interleave internal interrupt interrupted interval intervals into "
    "invalid invalidargumenterror invertible io iou ipython iris is isn it item items iter "
    "iterable iteration iterations iterator iters its iwslt ja jan japanese jax jet jit "
    "jitter job jobs join joined jpeg jpg json jul jun jupyter just kaiming kb keep keepdim "
    "kept keras kernel kernels key keyboard keypoint keypoints keys keyword keywords khz kib "
    "kill killed kind kinds kinetics kitchen kitti kl kmeans kmp knn ko korean kube kwarg "
    "kwargs lab label labeled labelled labels lamb lambda lanczos landmark landmarks lane "
    "lang large larger lars last lat late latent later latin latitude launch launched "
    "launcher layer layers lc ld leaf leak leaky learning least leave left legacy legend len "
    "length lengths lesion less letter letters level levels lg lib libc libcublas libcuda "
    "libcudart libcudnn libgomp libm libnccl library librispeech libs libstdc libtorch lidar "
    "light lightgbm lightning like likely limit limited limits line linear lines link links "
    "linux lion list lists lite literal llama lm ln load loaded loader loaders loading loads "
    "local localhost lock locks log logdir logged logger logging logit logits logname logs "
    "lon long longer longitude look looking looks loop loops lora loss losses low lower lr "
    "lstm lstrip lsun lustre macos made mae magenta magma main make makes making management "
    "manager manual many map mapping mar margin marital mask maskrcnn masks master mat match "
    "matched matches matching matmul matrices matrix max maximum maxpool may maybe mb md me "
    "mean media median medical medium mel mem memory merge merged merging mesh message "
    "messages method methods metric metrics mfcc mhz mib micro might min mini minibatch "
    "minimum minmax minute minutes mirror mish mismatch missing mistral mixed mixtral mixup "
    "mkl mlflow mlp mnist mnli mnt mobilenet mobilenetv mode model modeling models modes "
    "modified module modules momentum mon monitor month monthly months more most motorcycle "
    "mount move moved movie movielens movies moving mp mpi mps mri mrpc ms mse mu much "
    "mujoco mul multi multilingual multiplication multiplied multiply music must mutex my "
    "nadam name named namenode names namespace naming nan nano narrow nccl ndarray ndim near "
    "nearest necessary neck need needed needs negative neptune ner nesterov net nets network "
    "networks neutral never new newer newline newsgroups newstest next nf nfs nic nightly "
    "nil nine nl nll nnodes no node nodes noise noisy non nonblocking nondeterministic none "
    "nonetype nonzero nor norm normal normalization normalize normalized norms north not "
    "note notebook notebooks notes nov now nproc nprocs nr ns ntasks nucleus null num numba "
    "number numbers numerical numexpr numpy nvidia nvme nw object objects observation "
    "observations oct of off offline offload offloading offset ok okay old older omniglot "
    "omp on once one onecycle onednn onehot online only onto oom op open openblas opencv "
    "opened opening opens openwebtext operand operands operation operations operator "
    "operators ops opt optax optical optim optimized optimizer optimizers optimizing option "
    "optional options opts or orange order orders ordinal org origin orthogonal other our "
    "out outdir outdoor outer outlier outliers output outputs over overflow own oxford pack "
    "package packages packed pad padded padding page pages pandas parallel parallelism param "
    "parameter parameters params parent parents parse parsed parser parsing part participate "
    "partition partitions parts party pascal passage passages passing patch path paths "
    "patience pattern pbs pca pclass peak pedestrian peer peft penalty pendulum people per "
    "percent permission permissions permute perplexity persistent person petal phase phi "
    "phoneme photo photos picklable pickle pickled picture pictures pid piece pieces pil "
    "pile pillow pin pinned pip pipe pitch pix pixel pixels pl places plant plants plasma "
    "plateau platform platforms please plot plots plugin plugins plus png pod pods policies "
    "policy polynomial pong pool pooling pools pop population port ports pos pose position "
    "positional positive possible post postfix postprocess postprocessing posts pow power "
    "ppl ppo precision predict predicted prediction predictions predictor predicts prefetch "
    "prefetched prefetching prefix preload premise preprocess preprocessed preprocessing "
    "pressure pretrain pretrained pretraining pretty preview previous price print printing "
    "prior private pro probably problem process processed processes processing processor "
    "product products profile profiler profiling progress proj project projection projects "
    "prompt prompts protected proxy prune pruning psnr pt ptb public purple push put pwd py "
    "python pythonpath pythonunbuffered pytorch qa qkv qlora qnli qos qsub quantile "
    "quantization quantize quantized queries query question questions queue queues quick "
    "quiet quota qux qwen radar radius raise raised raises ram ran rand randaugment randn "
    "random randomly range rank ranks rate rates rating ratings ratio raw raws ray rb rc "
    "rcnn rdzv reacher read reader reading reads ready rear reason recall receive received "
    "receives record records recurrent recursion red reds reduce reduced reducing reduction "
    "referenced reflect refs refused regex region register registered registry regnet "
    "regression regressor regularization regularizer relative release releases relu "
    "remaining remote remove removed removing rename renamed rendezvous repeat repeated "
    "repeats repetition replace replaced replay replica replicas replicate report reported "
    "reporting reports requested require required requires reserved reset reshape resize "
    "resized resnet resnext resolution resolve resource resources rest restart restarts "
    "restore restored result results resume resumed retain retinanet retries retry return "
    "returned returning returns reuters rev reverse review reviews reward rewards rgb rgba "
    "rich right rle rmsprop rnn ro road roberta robust roc rocm root rope rotate rotation "
    "rouge round row rows rstrip rt rte ru run running runs rw sa sac said salary sales sam "
    "same sample sampler samples sampling sandbox sat satellite saturation save saved "
    "savedir saves saving say says sbatch scalar scalars scale scaled scaler scaling scan "
    "scanned scanning scans scatter schedule scheduler schedulers scikit scipy score scored "
    "scores scratch script scripts sda sdb sdpa search sec second seconds secs see seed "
    "seeds seen segment segmentation select self selu semaphore semi sensor sensors sentence "
    "sentences sentiment sep sepal separator seq sequence sequences serializable serialize "
    "serialized series server servers service serving set sets setting settings setup seven "
    "severe severity sex sgd sha shall shallow shape shapes shard sharded sharding shards "
    "share shared she sheep shell shift ship shlvl shm short shorter shot should show shown "
    "shows shuffle shuffled shuffling side sigma sigmoid signal signals silent silu similar "
    "similarity simple simulate since singleton singular site six size sizes skip skipped "
    "skipping sklearn slice slide slides slow slower slurm sm small smaller smi smooth "
    "smoothing snapshot so socket sofa softmax softplus solver some song songs sonnet sort "
    "sorted sorting sound source sources south space spaces spam spanish spark sparse "
    "sparsity spawn speaker spec species specify specs spectral spectrogram speech speed "
    "split splits splitting sqrt squad squeeze squeezenet src srun srv ssd ssim sst stable "
    "stack stacks stacktrace stage stages stall stalled standalone standard stanford start "
    "started starting starts startswith stat state states static statistics stats status std "
    "stem step steps stereo stft still stl stop stopped stopping stops storage store stored "
    "str strategies strategy stream streams stride strides string strings strip struct stsb "
    "stuck student study stylegan sub subject subprocess subscriptable subset subsets "
    "subtract succeeded success successfully such suffix suffixes sum summaries "
    "summarization summary sun superglue supervised support supported supports sure survived "
    "svhn svm swa swap sweep swimmer swin swish symbol symmetric sync synchronize "
    "synchronous syntax tab table tables tabular tag tags take taken takes taking tanh "
    "target targets task tasks tau tb td teacher team temp temperature temporarily ten "
    "tensor tensorboard tensorflow tensors tenure term terminated test tester testing tests "
    "text texts tf than that the their them then there these theta they third this those "
    "thousand thread threading threads three threshold thresholds through thu tib tiff time "
    "timed timeout timeouts timer times timeseries timestamp timestep timesteps timing timm "
    "tiny tip titanic title titles tmp to today together token tokenization tokenize "
    "tokenized tokenizer tokenizers tokenless tokens tol tolerance tolist too tool tooling "
    "tools top topk torch torchaudio torchrun torchvision torque total totals tower toxicity "
    "tpu tpus tqdm trace traceback traced tracing track tracking traffic train trainable "
    "trained trainer trainers training transform transformation transformed transformer "
    "transformers transforms translate translation transpose trec tree trees trial trials "
    "tried tries triggered triplet truck true truncate truncated truncation truth try trying "
    "tsne tue tumor tune tuning tuple tuples turbo tv tweet tweets twice two type types "
    "ubuntu ucf uint ultra umap unable unavailable unbuffered uncased unconditional "
    "undefined under underflow unet unexpected unexpectedly unfreeze unhandled unhashable "
    "unicode uniform uninitialized unique unit unk unknown unlabeled unlike unnecessary "
    "unpack unpickle unpickling unprocessed unreachable unsqueeze unstack unsupervised "
    "unsupported until unused unwrap up updated updating upgrade upload uploaded uploading "
    "upper upstream url urls us usage use used user users uses using usr utf util "
    "utilization utils vae val valid validate validating validation valley value values var "
    "variable variables variance vars veclib vector vectors vehicle velocity vendor venv ver "
    "verbose verification verified verify version versions vertical very vgg via video "
    "videos view viridis visible vit vits vmodule voc vocab vocabularies vocabulary voice "
    "vol voltage volume volumes wait waited waiting waits walker wandb want wanted warm "
    "warmstart warmup warn warning warnings was wasn wav wave wb wd we weather webp webtext "
    "wed week weekday weekly weight weightdecay weights were west wgan what when where which "
    "while whisper white who why wide wideresnet width wiki wikipedia wikitext will window "
    "windows wine with within without wmt wnli word words work workdir worker workers works "
    "workspace world worst would wouldn wrap wrapped wrapper write writer writes writing "
    "written wrong wt www x xavier xception xgboost xl xla xlabel xlarge xray xs xxl y yaml "
    "yarn year yearly yellow yelp yes yet ylabel yolo yolov you your z zero zh zip zone ";

constexpr std::string_view kNumbered =
    "aarch adam agent alpha amd arg arm atari attn base batch beit bert beta bf bfloat bias "
    "block blocks branch bucket buffer build cache caltech cartpole channel channels "
    "checkpoint chunk cifar ckpt clang class clip coco col column conda conv convnext "
    "convnextv cpu crop cs cuda cudnn cycle data dataset dcgan ddpg de debian deconv deit "
    "dense densenet depth detr dev device dim dino dinov disk dqn ds efficientnet emb embed "
    "embedding en enp ens env enwik epoch es eth exp experiment expt falcon fasterrcnn fc "
    "feature features ffn file float flowers fold food fp fr frame gamma gcc gemma gigaword "
    "glue gpt gpu grad group gru head height hidden hmdb host image imagenet img in "
    "inception input int iou it iter iwslt ja jax job jpeg keras kernel key kinetics ko "
    "label lambda latin layer level lib libc librispeech line linear linux llama lstm macos "
    "map maskrcnn mat mean mistral mixtral mlp mnt mobilenet mobilenetv model mp neck "
    "newsgroups newstest nic nl node norm nvme opt out output oxford page part patch phase "
    "phi pix pl places port pos ppo proj pt py python query queue qwen rank rc regnet "
    "release resnet resnext retinanet reuters rev rnn row ru run sac sam sample scale sda "
    "sdb seed seq sgd sha shard size slice sm split squad squeezenet ssd sst stage stanford "
    "std stem step stream stylegan sweep swin tag task td tf thread token top torch tpu "
    "train trec trial ubuntu ucf uint unet utf val value ver version vgg view vit vits vocab "
    "vol warmup wav weight wgan wideresnet width wikitext window windows wmt word worker x "
    "xception xl y yolo yolov z zh ";

constexpr std::string_view kEveryday =
    "animal animals ant autumn bedroom bird birds black blue boat bottle brown bus car cars "
    "cat cats chair church cow cyan deer dog dogs dragon fire flower flowers frog fruit "
    "fruits green ham hand hands happy hello horse house human kitchen love lucky magenta "
    "mon monkey moon music my open orange people person plant plants purple quick red rex "
    "secret sheep sofa song songs spam spring star summer sun tower truck voice water white "
    "winter world yellow ";

constexpr std::string_view kEndings =
    "a arrow avi avro bash best bin bmp bpe bz2 c caffemodel cc cfg ckpt conf cpp css csv cu "
    "cuh cxx db dcm dll doc docx egg err feather flac geojson ggml gguf gif go gz h h5 hdf "
    "hdf5 hpp htm html hwidx idx index ini ipynb java jl joblib jpeg jpg js json jsonl keras "
    "las last lmdb lock log lz4 m m4a mat md mdb mkv mlmodel model mov mp3 mp4 msgpack nii "
    "npy npz o obj ogg onnx out params parquet pb pbtxt pcd pdf pgm pickle pkl ply png ppm "
    "proto pt pth py pyc pyi pyx r rar rb rec record records rs rst safetensors sh shp so "
    "spm sql sqlite states svg tar text tflite tfrecord tfrecords tgz tif tiff tmp toml "
    "trace ts tsv txt vocab wav webm webp weights whl xls xlsx xml xz yaml yml zip zst ";

using Set = std::unordered_set<std::string_view>;

Set parted(std::string_view text) {
  Set out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find(' ', at);
    out.insert(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

bool holds(const Set& set, std::string_view word) {
  constexpr size_t kLongest = 24;
  if (word.empty() || word.size() > kLongest) return false;
  std::string small(word);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return set.count(small) > 0;
}

}  // namespace

bool is_plain_word(std::string_view word) {
  static const Set words = parted(kWords);
  return holds(words, word);
}

bool is_numbered_word(std::string_view word) {
  static const Set words = parted(kNumbered);
  return holds(words, word);
}

bool is_everyday_word(std::string_view word) {
  static const Set words = parted(kEveryday);
  return holds(words, word);
}

bool is_file_ending(std::string_view ending) {
  static const Set endings = parted(kEndings);
  return holds(endings, ending);
}

}  // namespace headway
